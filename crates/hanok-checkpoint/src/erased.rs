//! Twins of traits that can be chosen at run time.

/// Declares the object-safe twin of a trait, implements it for all that implement the trait, and the trait for the handle that
/// shares one. A method is written without its receiver; each argument says whether it is the type (`own`), a reference to it
/// (`ref`) or perhaps one (`maybe`). A `twin fn` is forwarded by the items that follow `impl`.
macro_rules! erased {
    (@type $lt:lifetime own $type:ty) => { $type };
    (@type $lt:lifetime ref $type:ty) => { &$lt $type };
    (@type $lt:lifetime maybe $type:ty) => { Option<&$lt $type> };
    (
        $twin:ident of $trait:ident for $shared:ident.$field:ident, $error:ty;
        $(fn $method:ident($($arg:ident: $mode:ident $type:ty),*) -> $output:ty;)+
        $(twin fn $other:ident($($other_arg:ident: $other_mode:ident $other_type:ty),*) -> $other_output:ty;)*
        impl { $($item:item)* }
    ) => {
        erased! {
            @twin $twin of $trait, $error;
            $(fn $method($($arg: $mode $type),*) -> $output;)+
            $(fn $other($($other_arg: $other_mode $other_type),*) -> $other_output;)*
        }

        impl $trait for $shared {
            $(async fn $method(
                &self,
                $($arg: erased!(@type '_ $mode $type)),*
            ) -> Result<$output, $error> {
                $twin::$method(&*self.$field, $($arg),*).await
            })+

            $($item)*
        }
    };
    (
        @twin $twin:ident of $trait:ident, $error:ty;
        $(fn $method:ident($($arg:ident: $mode:ident $type:ty),*) -> $output:ty;)+
    ) => {
        #[doc = concat!("The object-safe twin of [`", stringify!($trait), "`].")]
        trait $twin: std::fmt::Debug + Send + Sync {
            $(fn $method<'a>(
                &'a self,
                $($arg: erased!(@type 'a $mode $type)),*
            ) -> hanok_core::BoxFuture<'a, Result<$output, $error>>;)+
        }

        impl<T: $trait> $twin for T {
            $(fn $method<'a>(
                &'a self,
                $($arg: erased!(@type 'a $mode $type)),*
            ) -> hanok_core::BoxFuture<'a, Result<$output, $error>> {
                Box::pin(<T as $trait>::$method(self, $($arg),*))
            })+
        }
    };
}
pub(crate) use erased;

//! The modules of one crate as a tree, and which file of it imports which.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::Path;
use super::source::{Child, Module, Source};

/// The names that a search has looked for, each in its module: none is looked for twice.
type Trail = BTreeSet<(usize, String)>;

/// One name of a file that another file uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    /// The importing file, as an index into the files of the crate.
    pub(super) from: usize,
    /// The file that defines the name.
    pub(super) to: usize,
    pub(super) name: String,
    /// The first line of the importing file that says so.
    pub(super) line: usize,
}

/// The files of a crate that its roots reach, and the arrows between them.
#[derive(Debug, Default)]
pub(super) struct Crate {
    pub(super) name: String,
    pub(super) files: Vec<Source>,
    pub(super) arrows: Vec<Arrow>,
}

impl Crate {
    /// Joins the files of the crate `name`, of which each has the path in its `src`.
    ///
    /// Files that no `mod` names outside tests are left out.
    pub(super) fn new(name: &str, mut sources: BTreeMap<String, Source>) -> Self {
        let mut tree = Tree { identifier: name.replace('-', "_"), ..Tree::default() };
        let roots: Vec<_> = sources.keys().filter(|path| is_root(path)).cloned().collect();
        for path in &roots {
            tree.add_file(path, None, &mut sources);
        }
        let arrows = tree.arrows();
        Self { name: name.to_owned(), files: tree.files, arrows }
    }

    /// The path of a file in the `src` of the crate.
    pub(super) fn path_in_src(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |source| path_in_src(&source.path))
    }
}

/// The part of a path after `src/`.
pub(super) fn path_in_src(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(_, path)| path)
}

/// Recognises a file that begins a tree of modules: the library or a program.
pub(super) fn is_root(path_in_src: &str) -> bool {
    matches!(path_in_src, "lib.rs" | "main.rs") || path_in_src.starts_with("bin/")
}

#[derive(Default)]
struct Tree {
    /// The name by which paths call the crate.
    identifier: String,
    files: Vec<Source>,
    nodes: Vec<Node>,
    /// The macros at the root of the crate, each with the module that defines it.
    macros: BTreeMap<String, usize>,
}

struct Node {
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    module: Module,
}

/// The end of a path.
enum Place {
    Module(usize),
    /// The item of that name in a module.
    Item(usize, String),
    /// Something of another crate.
    Outside,
}

impl Tree {
    fn add_file(
        &mut self,
        path: &str,
        parent: Option<usize>,
        sources: &mut BTreeMap<String, Source>,
    ) -> Option<usize> {
        let mut source = sources.remove(path)?;
        let module = std::mem::take(&mut source.module);
        self.files.push(source);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_folder_head = is_root(path) || name == "mod.rs";
        let own = if is_folder_head { folder } else { path.trim_end_matches(".rs") };
        Some(self.add(module, self.files.len() - 1, parent, (folder, own), sources))
    }

    /// Adds a module of `file` and all below it. `folders` are where the file stands and where its modules do.
    fn add(
        &mut self,
        mut module: Module,
        file: usize,
        parent: Option<usize>,
        folders: (&str, &str),
        sources: &mut BTreeMap<String, Source>,
    ) -> usize {
        let children = std::mem::take(&mut module.children);
        let node = self.nodes.len();
        let macros = std::mem::take(&mut module.exported_macros);
        self.macros.extend(macros.into_iter().map(|name| (name, node)));
        self.nodes.push(Node { file, parent, children: BTreeMap::new(), module });
        let (folder, own) = folders;
        for (name, child) in children {
            let below = joined(own, &name);
            let child = match child {
                Child::Inline(module) => {
                    Some(self.add(module, file, Some(node), (folder, &below), sources))
                }
                Child::File(Some(path)) => {
                    self.add_file(&joined(folder, &path), Some(node), sources)
                }
                Child::File(None) => [format!("{below}.rs"), format!("{below}/mod.rs")]
                    .iter()
                    .find_map(|path| self.add_file(path, Some(node), sources)),
            };
            if let (Some(child), Some(node)) = (child, self.nodes.get_mut(node)) {
                node.children.insert(name, child);
            }
        }
        node
    }

    fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = BTreeMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let imports = node.module.imports.iter().filter(|import| !import.is_reexport);
            let imported = imports.filter_map(|import| {
                Some((&import.path, self.place(at, &import.path.segments, &mut Trail::new())?))
            });
            let paths = node.module.paths.iter();
            let used = paths.filter_map(|path| Some((path, self.used(at, path)?)));
            for (path, place) in imported.chain(used) {
                let (to, name) = match place {
                    Place::Module(to) => {
                        (to, path.segments.last().map_or("", String::as_str).to_owned())
                    }
                    Place::Item(to, name) => (to, name),
                    Place::Outside => continue,
                };
                let to = self.nodes.get(to).map_or(node.file, |to| to.file);
                if to != node.file {
                    let line = arrows.entry((node.file, to, name)).or_insert(path.line);
                    *line = path.line.min(*line);
                }
            }
        }
        arrows.into_iter().map(|((from, to, name), line)| Arrow { from, to, name, line }).collect()
    }

    /// Follows a path in code. A word alone leads on only where a re-export has brought it.
    fn used(&self, at: usize, path: &Path) -> Option<Place> {
        if let [name] = path.segments.as_slice() {
            let node = self.nodes.get(at)?;
            let mut imports = node.module.imports.iter().filter(|import| import.is_reexport);
            imports.find(|import| import.name.as_ref() == Some(name))?;
        }
        self.place(at, &path.segments, &mut Trail::new())
    }

    /// Follows a path from a module; `None` if its beginning means nothing there.
    fn place(&self, at: usize, path: &[String], trail: &mut Trail) -> Option<Place> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => self.root(at),
            "self" => at,
            "super" => self.nodes.get(at)?.parent?,
            _ => {
                let place = self.walk(at, path, trail);
                if place.is_none() && *first == self.identifier {
                    return self.walk(self.root(0), rest, trail);
                }
                return place;
            }
        };
        // What a macro has made is not seen: it is of the module that the path reaches.
        self.walk(start, rest, trail).or_else(|| Some(self.deepest(start, rest)))
    }

    fn walk(&self, at: usize, path: &[String], trail: &mut Trail) -> Option<Place> {
        let Some((first, rest)) = path.split_first() else { return Some(Place::Module(at)) };
        let node = self.nodes.get(at)?;
        match first.as_str() {
            "self" => return self.walk(at, rest, trail),
            "super" => return self.walk(node.parent?, rest, trail),
            _ => {}
        }
        let child = node.children.get(first);
        if let (Some(child), false) = (child, rest.is_empty()) {
            return self.walk(*child, rest, trail);
        }
        if node.module.items.contains(first) {
            return Some(Place::Item(at, first.clone()));
        }
        if let (None, Some(defining)) = (node.parent, self.macros.get(first)) {
            return Some(Place::Item(*defining, first.clone()));
        }
        if !trail.insert((at, first.clone())) {
            return None;
        }
        if let Some(place) = self.imported(at, first, trail) {
            return match place {
                Place::Module(module) => self.walk(module, rest, trail),
                other => Some(other),
            };
        }
        if let Some(child) = child {
            return Some(Place::Module(*child));
        }
        self.by_glob(at, path, trail)
    }

    /// Follows a name that a `use` has brought into a module.
    fn imported(&self, at: usize, name: &str, trail: &mut Trail) -> Option<Place> {
        let imports = &self.nodes.get(at)?.module.imports;
        let import = imports.iter().find(|import| import.name.as_deref() == Some(name))?;
        Some(self.place(at, &import.path.segments, trail).unwrap_or(Place::Outside))
    }

    fn by_glob(&self, at: usize, path: &[String], trail: &mut Trail) -> Option<Place> {
        let globs =
            self.nodes.get(at)?.module.imports.iter().filter(|import| import.name.is_none());
        for glob in globs {
            if let Some(Place::Module(module)) = self.place(at, &glob.path.segments, trail)
                && let Some(place) = self.walk(module, path, trail)
            {
                return Some(place);
            }
        }
        None
    }

    /// The last module on the way, with the name that it does not know.
    fn deepest(&self, at: usize, path: &[String]) -> Place {
        let mut at = at;
        for name in path {
            match self.nodes.get(at).and_then(|node| node.children.get(name)) {
                Some(child) => at = *child,
                None => return Place::Item(at, name.clone()),
            }
        }
        Place::Module(at)
    }

    fn root(&self, at: usize) -> usize {
        let parents = std::iter::successors(Some(at), |at| self.nodes.get(*at)?.parent);
        parents.last().unwrap_or(at)
    }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

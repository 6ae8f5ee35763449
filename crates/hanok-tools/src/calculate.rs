//! The calculator as a tool.

use std::time::Duration;

use hanok_core::{Call, Effect};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use hanok_figures::{CalculatorError, Number, evaluate};

/// A longer expression is not repeated beside its value.
const SHOWN_EXPRESSION: usize = 200;

/// The tool `calculator`: the value of an arithmetic expression, by [`evaluate`](hanok_figures::evaluate).
///
/// It changes nothing, and takes at most a few milliseconds. An observation reads `123 * 456 = 56088`; one that was
/// rounded has `≈` for `=` and says to how many digits. Its data are `{"value": "56088", "rounded": false}`, the value
/// as text so that no digit is lost.
///
/// ```
/// use hanok_model::Tool;
/// use hanok_tools::Calculator;
///
/// let calculator = Calculator::new()?;
/// assert_eq!(calculator.spec().name(), "calculator");
/// assert_eq!(calculator.spec().only_text_parameter(), Some("expression"));
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Debug, Clone)]
pub struct Calculator {
    spec: ToolSpec,
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Calculation {
    /// The arithmetic expression, e.g. `123 * 456`, `(1200 - 300) / 12`, `3000000 * 15%`, `sqrt(2)`.
    expression: String,
}

impl Calculator {
    /// The tool.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its name and arguments are fixed.
    pub fn new() -> Result<Self, InvalidSpec> {
        let description = "Calculates an arithmetic expression exactly: sums, products, powers, percent, rounding.";
        Ok(Self { spec: ToolSpec::of::<Calculation>("calculator", description)? })
    }
}

impl Tool for Calculator {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// 5 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// Calculates.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] for what is no expression, [`ToolError::Failed`] for one without a value.
    async fn run(&self, arguments: &Arguments, _call: &Call) -> Result<ToolOutput, ToolError> {
        let Calculation { expression } = arguments.decode().map_err(ToolError::arguments)?;
        let value = evaluate(&expression).map_err(error)?;
        let data = json!({"value": value.to_string(), "rounded": value.is_rounded()});
        Ok(ToolOutput::new(line(&expression, &value)).data(data))
    }
}

fn line(expression: &str, value: &Number) -> String {
    let sign = if value.is_rounded() { '≈' } else { '=' };
    let expression = expression.trim();
    if expression.len() > SHOWN_EXPRESSION || expression.contains(char::is_control) {
        return format!("{sign} {value}");
    }
    format!("{expression} {sign} {value}")
}

/// Another expression may do for the one, none of this kind for the other.
fn error(error: CalculatorError) -> ToolError {
    match error {
        CalculatorError::DivisionByZero
        | CalculatorError::NegativeRoot
        | CalculatorError::TooLarge
        | CalculatorError::TooSmall => ToolError::failed(error),
        _ => ToolError::arguments(error),
    }
}

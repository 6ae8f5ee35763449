//! The tool `roi_calculator`: what a rented home yields.

use std::time::Duration;

use hanok_core::{Call, Effect};
use hanok_figures::Number;
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::money::returns::{Purchase, Returns};
use crate::money::{StatedRate, StatedWon, units};

const DESCRIPTION: &str = "집을 사서 세를 놓을 때의 수익률을 정확히 계산합니다: 총수익률, 비용을 뺀 순수익률, 자기 돈에 대한 수익률. \
집값의 오르내림이나 양도소득세는 내다보지 않으며, 대출의 월 상환액은 loan_simulator로 계산합니다. \
이런 말에 씁니다: 수익률, 투자.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoiQuestion {
    /// 매매가.
    pub price: StatedWon,
    /// 한 달의 월세. 전세이면 0.
    pub monthly_rent: StatedWon,
    /// 임차인에게서 받는 보증금. 없으면 0.
    #[serde(default)]
    pub deposit: Option<StatedWon>,
    /// 취득세, 중개보수, 수리비처럼 살 때 한 번 드는 비용.
    #[serde(default)]
    pub buying_costs: Option<StatedWon>,
    /// 재산세, 보험료, 수선비처럼 한 해에 드는 비용.
    #[serde(default)]
    pub yearly_costs: Option<StatedWon>,
    /// 한 해에 비는 개월 수: 0부터 12까지.
    #[serde(default)]
    pub empty_months: u32,
    /// 빌리는 돈.
    #[serde(default)]
    pub loan: Option<StatedWon>,
    /// 빌리는 돈의 연 이율. 돈을 빌리면 꼭 적습니다.
    #[serde(default)]
    pub loan_rate: Option<StatedRate>,
}

/// The tool.
///
/// Effect: pure. Time-out: 5 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn roi_calculator() -> Result<FnTool, InvalidSpec> {
    let run = |question: RoiQuestion, _call: Call| {
        std::future::ready(yields(&question).and_then(|returns| output(&question, &returns)))
    };
    let tool = FnTool::new("roi_calculator", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(5)))
}

/// The yields of what was asked about.
///
/// # Errors
///
/// [`ToolError::Arguments`] with what is out of its range or not understood.
pub fn yields(question: &RoiQuestion) -> Result<Returns, ToolError> {
    let won = |stated: &StatedWon| stated.won().map_err(ToolError::arguments);
    let or_none = |stated: &Option<StatedWon>| stated.as_ref().map_or(Ok(0), won);
    let loan = or_none(&question.loan)?;
    let loan_percent = match (&question.loan_rate, loan) {
        (Some(rate), _) => rate.percent().map_err(ToolError::arguments)?,
        (None, 0) => Number::from(0),
        (None, _) => {
            return Err(ToolError::arguments(
                "빌리는 돈의 이율을 모르면 수익률을 계산할 수 없습니다. `loan_rate`에 연 이율을 적어 주십시오",
            ));
        }
    };
    let purchase = Purchase {
        price: won(&question.price)?,
        buying_costs: or_none(&question.buying_costs)?,
        deposit: or_none(&question.deposit)?,
        rent: won(&question.monthly_rent)?,
        yearly_costs: or_none(&question.yearly_costs)?,
        empty_months: question.empty_months,
        loan,
        loan_percent,
    };
    purchase.returns().map_err(ToolError::arguments)
}

fn output(question: &RoiQuestion, returns: &Returns) -> Result<ToolOutput, ToolError> {
    let price = question.price.won().map_err(ToolError::arguments)?;
    let own = match &returns.cash_on_cash_percent {
        Some(percent) => {
            format!("자기 돈 {}에 대한 수익률은 연 {percent}%입니다.", units(returns.own_money))
        }
        None => "자기 돈이 들지 않아 자기 돈에 대한 수익률은 정할 수 없습니다.".to_owned(),
    };
    let text = format!(
        "매매가 {}, 1년 월세 {}: 총수익률 연 {}%, 비용을 뺀 순수익률 연 {}%입니다. 이자를 내고 남는 돈은 1년에 {}입니다. {own} \
         보증금은 매매가의 {}%입니다. 집값의 변동과 양도소득세는 넣지 않았습니다.",
        units(price),
        units(returns.yearly_rent),
        returns.gross_percent,
        returns.net_percent,
        units(returns.cash_flow),
        returns.deposit_to_price_percent,
    );
    let data = serde_json::to_value(returns).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(text).data(data))
}

import type { ExchangeStatus, StatusReason } from './exchange.ts'
import { isOpenExecution, isTerminal } from './lifecycle.ts'

type State = Readonly<{ status: ExchangeStatus; reason: StatusReason | null }>

/**
 * The state of an exchange in API responses. The execution of a deposit is stored with its block, but the exchange's own row
 * only with the next step: without this, a response would show `pending` above a `confirming` item. `executions` are in
 * the order of their deposits. `SHOWN_STATUS` of adapters/postgres/exchange/exchanges.ts does the same for list filters;
 * shown-status.test.ts compares the two.
 */
export function shownState(current: State, executions: readonly (State & Readonly<{ leg: number }>)[]): State {
  if (isTerminal(current.status)) return current
  return executions.findLast(isOpenExecution) ?? current
}

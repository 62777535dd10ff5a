import type { ExchangeStatus, StatusReason } from './exchange.ts'
import { isTerminal, isOpenExecution } from './lifecycle.ts'

type State = Readonly<{ status: ExchangeStatus; reason: StatusReason | null }>

/**
 * An exchange's state as it is answered. Its row is written by its next step, while the execution of a deposit is there as
 * soon as its block is: in between an answer would say `pending` above an item that is `confirming`. `executions` in order
 * of their deposits. `SHOWN_STATUS` of adapters/postgres/exchanges.ts says the same to a list's filter.
 */
export function shownState(current: State, executions: readonly (State & Readonly<{ leg: number }>)[]): State {
  if (isTerminal(current.status)) return current
  return executions.findLast(isOpenExecution) ?? current
}

import { AppError } from '../../../core/domain/errors.ts'
import type { Execution } from '../../ports/store/execution.ts'
import type { StepStore } from '../../ports/store/steps.ts'

export type HeldUnits = Readonly<{
  read(): Promise<bigint>
  /** What `read` returned; null = it was not called. */
  result(): Promise<bigint | null>
}>

/** Reads what the deposit's address holds of other deposits, once and only if a node lacks the state of its block. */
export function createHeldUnits(
  steps: Pick<StepStore, 'heldUnits'>,
  exchangeId: string,
  deposit: Execution['deposit'],
): HeldUnits {
  let reading: Promise<bigint> | null = null
  const start = async () => {
    const units = await steps.heldUnits(exchangeId, deposit)
    if (units !== null) return units
    throw new AppError('NETWORK_UNAVAILABLE', `a sweep of ${deposit.address} is signed and not confirmed`)
  }
  return {
    read: () => {
      reading ??= start()
      return reading
    },
    result: async () => reading,
  }
}

import type { Job } from '../ports/jobs.ts'

/** The id of `dispatch` is a network. */
const idNames = { exchange: 'exchangeId', transaction: 'transactionId', dispatch: 'network', swap: 'swapId' } as const

/** Fields of a job in a log line or an alarm, with its id under the name that all lines use. */
export function jobFields({ kind, id }: Job): Readonly<Record<string, string>> {
  return { kind, [idNames[kind]]: id }
}

import { createPayeeMacs } from '../adapters/signers/payee-macs.ts'
import type { Config } from '../config/load.ts'
import type { PayeeMacs } from '../exchange/ports/payee-macs.ts'

/** The authentication codes of payees, as API, workers and commands make and check them. */
export const payeeMacsOf = ({ pepper, previousPepper }: Pick<Config, 'pepper' | 'previousPepper'>): PayeeMacs =>
  createPayeeMacs(Buffer.from(pepper), previousPepper === null ? null : Buffer.from(previousPepper))

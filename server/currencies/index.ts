import type { CurrencyDefinition } from '../src/core/domain/currency.ts'
import { coins } from './coins.ts'
import { stablecoins } from './stablecoins.ts'
import { tokens } from './tokens.ts'

/** The whole catalogue as data, in no order: `rank` sorts it. */
export const currencies: readonly CurrencyDefinition[] = [...coins, ...stablecoins, ...tokens]

import type { CoreServices } from '../core/services/interfaces.ts'
import type { ExchangeServices } from '../exchange/interfaces.ts'
import type { SwapServices } from '../swap/interfaces.ts'

/** Everything that the HTTP routes call. */
export type Services = CoreServices & ExchangeServices & Readonly<{ swaps: SwapServices }>

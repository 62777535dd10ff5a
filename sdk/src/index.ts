export { addAmounts, amountToUnits, compareAmounts, numberToAmount, subtractAmounts, unitsToAmount } from './amounts.ts'
export { createSwapyard, type Swapyard } from './client.ts'
export {
  type ApiError,
  type ClientError,
  type ClientErrorCode,
  SwapyardError,
} from './errors.ts'
export type { EventsOptions, PartnerEvent } from './events.ts'
export type { Operations } from './generated/operations.ts'
export type * from './generated/types.ts'
export { errorCodes, terminalExchangeStatuses, terminalSwapStatuses } from './generated/values.ts'
export type { CallOptions, ClientOptions } from './http.ts'
export type { FinalExchange, FinalSwap, WaitOptions } from './wait.ts'
export { verifyWebhook, type WebhookDelivery, type WebhookEvent } from './webhook.ts'

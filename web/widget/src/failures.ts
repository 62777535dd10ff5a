import { type Problem, SwapyardError } from '@swapyard/sdk'

/** What a customer can do about a failure, by its code. The codes are those of docs/errors.md. */
const texts: Readonly<Record<string, string>> = {
  ADDRESS_IS_OURS: 'This is an address of this service. Enter an address of your own wallet.',
  AMOUNT_MALFORMED: 'Enter an amount such as 0.01.',
  AMOUNT_PRECISION: 'The amount has too many decimals for this currency.',
  CONNECTION_FAILED: 'There is no connection to the service. Check your connection and try again.',
  CURRENCY_NOT_FOUND: 'This currency is not offered at the moment. Choose another one.',
  FIXED_RATE_UNSUPPORTED: 'There is no fixed rate for these currencies. Choose the floating rate.',
  INSUFFICIENT_LIQUIDITY: 'This amount cannot be delivered at the moment. Try a smaller one.',
  INVALID_ADDRESS: 'This is not a valid address on this network. Check that you copied all of it.',
  INVALID_REFUND_ADDRESS: 'This is not a valid address on this network. Check that you copied all of it.',
  MEMO_INVALID: 'This is not valid here. Copy it again from your wallet.',
  MEMO_NOT_SUPPORTED: 'This network has no such field. Leave it empty.',
  MEMO_REQUIRED: 'This address needs it: without it the payment is lost. Copy it from your wallet.',
  NETWORK_PAUSED: 'This network is paused for maintenance. Try again later, or choose another currency.',
  NETWORK_UNAVAILABLE: 'This network does not answer at the moment. Try again in a minute.',
  NO_ROUTE: 'These two currencies cannot be exchanged for each other. Choose another one.',
  OVERLOADED: 'The service is busy. Try again in a minute.',
  PAIR_UNAVAILABLE: 'These two currencies cannot be exchanged for each other at the moment. Choose another one.',
  PARTNER_SUSPENDED: 'Exchanges on this site are switched off. Contact the site.',
  RATES_UNAVAILABLE: 'There are no current prices at the moment. Try again in a minute.',
  RATE_ID_EXPIRED: 'The price has changed. Check the new amount and start again.',
  RATE_ID_USED: 'This rate was used already. Check the new amount and start again.',
  RATE_LIMIT_EXCEEDED: 'There were too many requests. Wait a minute and try again.',
  RESTRICTED: 'This address cannot be used. Enter another one.',
  SAME_CURRENCY: 'Choose two different currencies.',
  TIMEOUT: 'The service did not answer in time. Try again.',
}

export const NO_SCRIPT_ORIGIN =
  'The widget does not know its server. Load the script with a script element whose address ends with /widget.js.'
export const NO_KEY = 'The widget has no publishable key. The site has to set the attribute "key" (pk_…).'
export const KEY_REFUSED =
  'The service refuses this page: the publishable key is wrong or revoked, or it is not for the address of this site. The site has to correct it.'
const NO_ANSWER_TO_CREATE =
  'The service did not answer in time. Try again to go on waiting: no second exchange is created.'

/** A sentence for the customer. The id helps the operator to find a failure that has no sentence of its own. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof SwapyardError)) return 'Something went wrong on this page. Load it again.'
  const text = describeCode(error.code)
  if (text !== null) return text
  if (error.statusCode === 401 || error.statusCode === 403) return KEY_REFUSED
  const id = error.requestId === null ? '' : ` If it happens again, tell the site this number: ${error.requestId}.`
  return `The service could not do this. Try again in a minute.${id}`
}

/** The exchange may exist. The next attempt has the same key. */
export const describeCreateFailure = (error: unknown): string =>
  error instanceof SwapyardError && error.code === 'TIMEOUT' ? NO_ANSWER_TO_CREATE : describeFailure(error)

export const describeCode = (code: string): string | null => (Object.hasOwn(texts, code) ? (texts[code] ?? null) : null)

export const describeProblem = (problem: Problem): string =>
  describeCode(problem.code) ?? 'This is not accepted. Check it and try again.'

/** A browser hides the answer to a refused key from the page, so that it looks like a broken connection. */
export async function describeFirstFailure(error: unknown, origin: string, signal: AbortSignal): Promise<string> {
  const isHidden = error instanceof SwapyardError && error.code === 'CONNECTION_FAILED'
  return isHidden && (await isReachable(origin, signal)) ? KEY_REFUSED : describeFailure(error)
}

async function isReachable(origin: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(`${origin}/widget.js`, {
      method: 'HEAD',
      cache: 'no-store',
      credentials: 'omit',
      signal,
    })
    return answer.ok
  } catch {
    return false
  }
}

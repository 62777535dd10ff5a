import { SwapyardError } from './errors.ts'
import type { PartnerEvent } from './events.ts'
import type { WebhookTestEvent } from './generated/types.ts'

/** A union by `type`; every repeat of a delivery has the same `id`. Later versions of the API add types: ignore those that you do not know. */
export type WebhookEvent = PartnerEvent | WebhookTestEvent

export type WebhookDelivery = Readonly<{
  /** The body as received: parsed and serialised again, it has another signature. */
  body: string | Uint8Array
  /** The header `X-Swapyard-Signature`. */
  signature: string | null | undefined
  /** Several while a secret is replaced. */
  secret: string | readonly string[]
  /** Largest age, and largest advance of the sender's clock. Default: 300 s. */
  toleranceSeconds?: number | undefined
  /** Default: `Date.now`. */
  now?: (() => number) | undefined
}>

/** A sender states one value per secret in force. */
const VALUES_MAX = 8

/** Checks the signature and the age of a delivery and returns its event. Rejects with `WEBHOOK_REJECTED`. */
export async function verifyWebhook({
  body,
  signature,
  secret,
  toleranceSeconds = 300,
  now = Date.now,
}: WebhookDelivery): Promise<WebhookEvent> {
  const { time, values } = parseSignature(signature ?? '')
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  if (!(await matches([secret].flat(), values, join(new TextEncoder().encode(`${time}.`), bytes))))
    throw reject('no signature matches')
  if (Math.abs(now() / 1_000 - Number.parseInt(time, 10)) > toleranceSeconds)
    throw reject(`it was signed more than ${toleranceSeconds} s before or after now`)
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
  } catch {
    throw reject('its body is not JSON')
  }
}

const reject = (reason: string) => new SwapyardError('WEBHOOK_REJECTED', `the webhook is rejected: ${reason}`)

/** `t=<unix seconds>,v1=<hex>[,v1=<hex>]`; other members are for later versions. */
function parseSignature(header: string): { time: string; values: readonly Uint8Array<ArrayBuffer>[] } {
  const members = header.split(',').map((member) => member.trim())
  const [time, ...others] = members.flatMap((member) => /^t=(\d{1,12})$/.exec(member)?.[1] ?? [])
  const values = members.flatMap((member) => /^v1=([0-9a-f]{64})$/i.exec(member)?.[1] ?? [])
  if (time === undefined || others.length > 0 || values.length === 0 || values.length > VALUES_MAX)
    throw reject('the header X-Swapyard-Signature is missing or malformed')
  return { time, values: values.map(fromHex) }
}

const fromHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

function join(start: Uint8Array, end: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(start.length + end.length)
  all.set(start)
  all.set(end, start.length)
  return all
}

/** `subtle.verify` compares in constant time. */
async function matches(
  secrets: readonly string[],
  values: readonly Uint8Array<ArrayBuffer>[],
  message: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey(
      'raw',
      new TextEncoder().encode(secret),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    )
    for (const value of values) if (await crypto.subtle.verify('HMAC', key, value, message)) return true
  }
  return false
}

import { createHmac } from 'node:crypto'

/** `t=<unix seconds>,v1=<hex>`, with one value per secret in force. */
export function signDelivery(body: string, secrets: readonly string[], nowMs: number): string {
  const time = Math.floor(nowMs / 1_000)
  const values = secrets.map((secret) => `v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`)
  return [`t=${time}`, ...values].join(',')
}

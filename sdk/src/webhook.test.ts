import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { verifyWebhook, type WebhookEvent } from './webhook.ts'

const secret = 'whsec_a_secret'
const body = '{"id":"e-1","type":"exchange.finished","created":"2026-01-02T03:04:05.000Z","data":{"note":"zwölf"}}'
const time = 1_767_323_045
const now = () => time * 1_000

/** The sender's side, by another implementation than the library uses. */
const sign = (text: string, by = secret, at = time) => createHmac('sha256', by).update(`${at}.${text}`).digest('hex')
const verify = (signature: string | null, others: Partial<Parameters<typeof verifyWebhook>[0]> = {}) =>
  verifyWebhook({ body, signature, secret, now, ...others })

/** By the types of the package: `data` follows from `type`. */
function describeEvent(event: WebhookEvent): string {
  if (event.type === 'exchange.finished') return `exchange ${event.data.exchange.id}`
  if (event.type === 'swap.finished') return `swap ${event.data.hash}`
  return event.type === 'webhook.test' ? `test ${event.data.webhookId}` : event.type
}

describe('verifyWebhook', () => {
  test('returns a union by type, with the test event', async () => {
    const describeSigned = async (type: string, data: object) => {
      const text = JSON.stringify({ id: 'e-1', type, created: '2026-01-02T03:04:05.000Z', data })
      return describeEvent(await verify(`t=${time},v1=${sign(text)}`, { body: text }))
    }
    expect(await describeSigned('exchange.finished', { exchange: { id: 'x-1' } })).toBe('exchange x-1')
    expect(await describeSigned('swap.finished', { hash: '0x12' })).toBe('swap 0x12')
    expect(await describeSigned('webhook.test', { webhookId: 'w-1' })).toBe('test w-1')
  })

  test('returns the event of a signed delivery, from text and from bytes', async () => {
    const event = { id: 'e-1', type: 'exchange.finished', data: { note: 'zwölf' } }
    expect(await verify(`t=${time},v1=${sign(body)}`)).toMatchObject(event)
    expect(await verify(`t=${time},v1=${sign(body)}`, { body: Buffer.from(body) })).toMatchObject(event)
  })

  test('accepts a vector that openssl computed', async () => {
    // printf '1700000000.{}' | openssl dgst -sha256 -hmac key
    const v1 = '9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae'
    expect(
      await verifyWebhook({
        body: '{}',
        signature: `t=1700000000,v1=${v1}`,
        secret: 'key',
        now: () => 1_700_000_000_000,
      }),
    ).toEqual({})
  })

  test('accepts any of several values and secrets while a secret is replaced', async () => {
    const signature = `t=${time},v1=${sign(body, 'the old one')},v1=${sign(body)}`
    expect(await verify(signature)).toMatchObject({ id: 'e-1' })
    expect(await verify(`t=${time},v1=${sign(body)}`, { secret: ['the next one', secret] })).toMatchObject({
      id: 'e-1',
    })
  })

  test.each([
    ['another body', `t=${time},v1=${sign(`${body} `)}`],
    ['another secret', `t=${time},v1=${sign(body, 'another')}`],
    ['another time than the signed one', `t=${time + 1},v1=${sign(body)}`],
    ['two times', `t=${time},t=${time + 1},v1=${sign(body)}`],
    ['a value that is too short', `t=${time},v1=${sign(body).slice(2)}`],
    ['another scheme', `t=${time},v0=${sign(body)}`],
    ['no time', `v1=${sign(body)}`],
    ['an empty header', ''],
    ['more values than secrets can be in force', `t=${time}${`,v1=${sign(body, 'x')}`.repeat(8)},v1=${sign(body)}`],
  ])('rejects %s', async (_, signature) => {
    await expect(verify(signature)).rejects.toMatchObject({ code: 'WEBHOOK_REJECTED' })
  })

  test('rejects a delivery without the header', async () => {
    await expect(verify(null)).rejects.toMatchObject({ code: 'WEBHOOK_REJECTED' })
  })

  test('rejects a delivery that is too old or of the future, by the tolerance', async () => {
    const signature = `t=${time},v1=${sign(body)}`
    const at = (seconds: number) => ({ now: () => (time + seconds) * 1_000 })
    expect(await verify(signature, at(300))).toMatchObject({ id: 'e-1' })
    await expect(verify(signature, at(301))).rejects.toMatchObject({ code: 'WEBHOOK_REJECTED' })
    await expect(verify(signature, at(-301))).rejects.toMatchObject({ code: 'WEBHOOK_REJECTED' })
    expect(await verify(signature, { ...at(500), toleranceSeconds: 600 })).toMatchObject({ id: 'e-1' })
  })

  test('rejects a signed body that is not JSON', async () => {
    await expect(verify(`t=${time},v1=${sign('hello')}`, { body: 'hello' })).rejects.toMatchObject({
      code: 'WEBHOOK_REJECTED',
    })
  })
})

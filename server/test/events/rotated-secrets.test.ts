import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import type { Events } from '../../src/app/events.ts'
import type { Partner } from '../../src/core/domain/partner.ts'
import { type EventStage, openEventStage } from './event-stage.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const DAY_MS = 24 * 3_600_000

let stage: EventStage
let partner: Partner
let receiver: Receiver
beforeEach(async () => {
  stage = await openEventStage()
  partner = await stage.addPartner()
  receiver = await startReceiver()
})
afterEach(async () => {
  await receiver.close()
  await stage.close()
})

async function create({ services }: Events): Promise<{ id: string; secret: string }> {
  const { webhook, sealed } = await services.webhooks.create(partner, { url: receiver.url, events: [] })
  return { id: webhook.id, secret: services.webhooks.openSecret({ id: webhook.id, sealed }) }
}
const rotate = async ({ services }: Events, id: string): Promise<string> =>
  services.webhooks.openSecret(await services.webhooks.rotate(partner, id))

/** Which of the secrets signed the next delivery, a test event, in the order of its signatures. */
async function signersOf({ services }: Events, id: string, secrets: Readonly<Record<string, string>>) {
  const before = receiver.received.length
  await services.webhooks.test(partner, id)
  await expect.poll(() => receiver.received.length, PATIENCE).toBe(before + 1)
  const delivered = receiver.received.at(-1)
  const body = delivered?.body
  const [time = '', ...values] = String(delivered?.headers['x-swapyard-signature']).split(',')
  const hmacOf = (secret: string) =>
    createHmac('sha256', secret)
      .update(`${time.slice(2)}.${body}`)
      .digest('hex')
  return values.map((value) => Object.entries(secrets).find(([, secret]) => value === `v1=${hmacOf(secret)}`)?.[0])
}

test('a second rotation within the overlap is refused with its end, and the secret in use signs until then', async () => {
  stage.startWorkers()
  const { id, secret: first } = await create(stage.events)
  const rotatedAt = Date.now()
  const second = await rotate(stage.events, id)
  const refusal = await rotate(stage.events, id).then(
    () => null,
    (error: unknown) => error,
  )
  expect(refusal).toMatchObject({ code: 'WEBHOOK_SECRET_ROTATED', problems: [{ field: 'id' }] })
  const [problem] = (refusal as { problems: { possibleFrom: string }[] }).problems
  // The clock is that of the database, on this machine.
  expect(Date.parse(problem?.possibleFrom ?? '') - rotatedAt - DAY_MS).toBeLessThan(PATIENCE.timeout)
  expect(Date.parse(problem?.possibleFrom ?? '')).toBeGreaterThanOrEqual(rotatedAt + DAY_MS)
  expect(await signersOf(stage.events, id, { first, second })).toEqual(['second', 'first'])
  await expect(stage.events.services.webhooks.rotate(await stage.addPartner(), id)).rejects.toMatchObject({
    code: 'WEBHOOK_NOT_FOUND',
  })

  await stage.database.query('update webhooks set previous_until = clock_timestamp()')
  const third = await rotate(stage.events, id)
  expect(await signersOf(stage.events, id, { first, second, third })).toEqual(['third', 'second'])
})

test('a rotation helps at once if the secret before it can no longer be decrypted', async () => {
  const { id } = await create(stage.events)
  const after = stage.openAnother({ pepper: Buffer.from('another pepper of the tests') })
  stage.startWorkers(after)
  const second = await rotate(after, id)
  expect(await signersOf(after, id, { second })).toEqual(['second'])
})

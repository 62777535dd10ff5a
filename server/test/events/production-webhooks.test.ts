import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import type { Partner } from '../../src/core/domain/partner.ts'
import { addExchange, type EventStage, openEventStage, passTime, setStatuses } from './event-stage.ts'
import { type Receiver, startReceiver } from './receiver.ts'

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

const NOT_PUBLIC = 'its host has an address that is not public'

test('production refuses a webhook whose URL is not https, or whose host is not public', async () => {
  const { webhooks } = stage.openAnother({ environment: 'production' }).services
  for (const [url, problem] of [
    [receiver.url, 'it must begin with https://'],
    ['https://127.0.0.1/hook', 'its address is not public'],
    ['https://169.254.169.254/latest/meta-data', 'its address is not public'],
    ['https://[fe80::1]/hook', 'its address is not public'],
    ['https://localhost/hook', NOT_PUBLIC],
  ] as const)
    await expect(webhooks.create(partner, { url, events: [] })).rejects.toMatchObject({
      code: 'WEBHOOK_URL_REFUSED',
      message: `url is refused: ${problem}`,
    })
  expect(await webhooks.list(partner)).toEqual([])
})

test('production checks the address of a webhook again at each delivery, and connects to none that is not public', async () => {
  const { webhooks } = stage.events.services
  // The sandbox takes it.
  const { webhook } = await webhooks.create(partner, { url: receiver.url, events: [] })
  const waitForError = (error: string) =>
    expect
      .poll(async () => {
        await passTime(stage.database)
        return (await webhooks.deliveries(partner, webhook.id, null, 1)).at(0)?.lastError
      }, PATIENCE)
      .toBe(error)
  stage.startWorkers(stage.openAnother({ environment: 'production' }))
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await waitForError('it must begin with https://')
  const { port } = new URL(receiver.url)
  // As if the name had another address now.
  await stage.database.query('update webhooks set url = $1', [`https://localhost:${port}/hook`])
  await waitForError(NOT_PUBLIC)
  expect(receiver.received).toEqual([])
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createFeeAccounts } from '../../../src/adapters/postgres/swap/fee-accounts.ts'
import { memoryFamilies } from './memory-families.ts'
import { decodeUnsigned } from './memory-ledger.ts'
import { type Stage, startStage } from './stage.ts'

const mail = { url: 'smtp://127.0.0.1:25', from: 'alerts@swapyard.example' }
const path = '/v1/partner/fee-addresses'
const DAY_MS = 86_400_000

describe.each(memoryFamilies.map((family) => [family.network.id, family] as const))(
  'fee addresses on %s',
  (id, family) => {
    let stage: Stage
    let addresses: string[]
    beforeAll(async () => {
      stage = await startStage(family, { mail })
    })
    afterAll(() => stage?.stop())
    beforeEach(async () => {
      await stage.database.query('delete from fee_addresses')
      await stage.database.query('delete from mails')
      await stage.database.query("update partners set email = 'owner@partner.example' where name = 'p1'")
      addresses = [stage.user().address, stage.user().address]
    })

    const set = (address: string | undefined, key?: string) => stage.post(path, { network: id, address }, key)
    const shown = async () => (await stage.get(path)).body.data
    /** Makes the time of the waiting address come, and that of the next request. */
    const passDelay = () =>
      stage.database.query(
        "update fee_addresses set next_from = clock_timestamp(), asked_at = asked_at - interval '2 days' where next_from is not null",
      )
    const passHour = () => stage.database.query("update fee_addresses set asked_at = asked_at - interval '61 minutes'")
    const countEvents = async () =>
      (await stage.database.query("select 1 from partner_events where type = 'partner.fee_address_changed'")).length
    const mails = () => stage.database.query<{ recipient: string; body: string }>('select recipient, body from mails')
    /** Where a build of a swap sends the fee. */
    async function feeTo(): Promise<string> {
      const trade = { fromTokenAddress: family.native, toTokenAddress: family.tokens[0], amount: '1', slippage: '1' }
      const { address: account } = stage.user()
      const { status, body } = await stage.post('transaction/swap', {
        network: id,
        ...trade,
        referrerFee: '1',
        account,
      })
      expect(status).toBe(201)
      const unsigned = decodeUnsigned(body[0])
      return (unsigned as { feeTo: string }).feeTo
    }

    test('a new address takes effect after two days, and is announced by an e-mail and an event', async () => {
      const [first = ''] = addresses
      const events = await countEvents()
      const asked = Date.now()
      const { status, body } = await set(first)
      expect([status, body]).toEqual([
        201,
        { network: id, address: null, next: { address: first, effective: expect.any(String) } },
      ])
      // Clocks of tests and of the database differ by less than an hour.
      expect(Math.abs(Date.parse(body.next.effective) - asked - 2 * DAY_MS)).toBeLessThan(DAY_MS / 24)
      expect(await shown()).toEqual([body])
      expect(await mails()).toEqual([{ recipient: 'owner@partner.example', body: expect.stringContaining(first) }])
      expect(await countEvents()).toBe(events + 1)
      expect(await feeTo()).toBe(stage.operator.address)
      await passDelay()
      expect(await shown()).toEqual([{ network: id, address: first, next: null }])
      expect(await feeTo()).toBe(first)
      // Another partner has none of it.
      expect((await stage.get(path, {}, 'sandbox-b')).body).toEqual({ data: [] })
    })

    test('a stolen key cannot redirect fees before the partner withdraws the change', async () => {
      const [own = '', thief = ''] = addresses
      await set(own)
      await passDelay()
      await set(thief)
      expect(await feeTo()).toBe(own)
      // The same request does not begin a new delay, and another one must wait.
      const waiting = await shown()
      expect((await set(thief)).body).toEqual(waiting[0])
      const again = await set(stage.user().address)
      expect([again.status, again.body.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
      expect((await set(own)).body).toEqual({ network: id, address: own, next: null })
      await passDelay()
      expect(await feeTo()).toBe(own)
      // Asking again at once does not help the thief either.
      expect((await set(thief)).status).toBe(429)
      await passHour()
      expect((await set(thief)).status).toBe(201)
      await passDelay()
      expect(await feeTo()).toBe(thief)
      // Too late to withdraw: the loss ends at once.
      expect((await set('none')).body).toEqual({ network: id, address: null, next: null })
      expect([await feeTo(), await shown()]).toEqual([stage.operator.address, []])
    })

    test('requests at the same time leave one waiting address and one e-mail', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => set(stage.user().address)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 429, 429, 429, 429, 429])
      expect((await mails()).length).toBe(1)
    })

    test('the address is checked as one of the network, screened, and no address of ours', async () => {
      const refused = async (address: string) => {
        const { status, body } = await set(address)
        return [status, body.code, body.errors[0].field]
      }
      expect(await refused('not an address')).toEqual([400, 'INVALID_ADDRESS', 'address'])
      expect(await refused('')).toEqual([400, 'VALIDATION_ERROR', 'address'])
      expect(await refused(stage.restricted.address)).toEqual([451, 'RESTRICTED', 'address'])
      const elsewhere = await stage.post(path, { network: 'nowhere', address: addresses[0] })
      expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'NETWORK_NOT_FOUND'])
      expect(await shown()).toEqual([])
      expect((await mails()).length).toBe(0)
    })

    test('without an e-mail address of the partner nothing changes', async () => {
      await stage.database.query("update partners set email = null where name = 'p1'")
      const { status, body } = await set(addresses[0])
      expect([status, body.code, await shown()]).toEqual([422, 'EMAIL_REQUIRED', []])
    })

    test('an address that an operator sets is in effect at once, and drops a waiting one', async () => {
      const [own = '', other = ''] = addresses
      await set(other)
      const events = await countEvents()
      await createFeeAccounts(stage.database).setAddress('p1', id, own)
      expect([await feeTo(), await shown()]).toEqual([own, [{ network: id, address: own, next: null }]])
      expect(await countEvents()).toBe(events + 1)
    })
  },
)

describe('without a mail server', () => {
  const [family] = memoryFamilies
  let stage: Stage
  afterEach(() => stage.stop())
  const start = async (environment: 'production' | 'sandbox') => {
    stage = await startStage(family, { environment })
    await stage.database.query("update partners set email = 'owner@partner.example' where name = 'p1'")
  }
  const set = (address: string) => stage.post(path, { network: family.network.id, address })
  const countMails = async () => (await stage.database.query('select 1 from mails')).length

  test('a new address is refused, because no e-mail would announce it, and the one in effect can be removed', async () => {
    await start('production')
    const { status, body } = await set(stage.user().address)
    expect([status, body.code]).toEqual([422, 'EMAIL_REQUIRED'])
    expect(body.message).toContain('no mail server')
    expect((await stage.get(path)).body).toEqual({ data: [] })
    await createFeeAccounts(stage.database).setAddress('p1', family.network.id, stage.user().address)
    expect((await set('none')).body).toEqual({ network: family.network.id, address: null, next: null })
    expect(await countMails()).toBe(0)
  })

  test('the sandbox accepts a new address, and queues no e-mail', async () => {
    await start('sandbox')
    const { address } = stage.user()
    expect((await set(address)).body).toMatchObject({ address: null, next: { address } })
    expect(await countMails()).toBe(0)
  })
})

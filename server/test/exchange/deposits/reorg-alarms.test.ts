import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import type { Chain } from '../../../src/exchange/ports/chain.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let original: Chain['reader']
beforeAll(async () => {
  fixture = await startMoneyPath()
  original = { ...fixture.fakes.eth.chain.reader }
  await fixture.fundWallets({ eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(async () => {
  Object.assign(fixture.fakes.eth.chain.reader, original)
  await fixture.expectBalanced()
})

const findAlarm = (subject: string) => fixture.store.alarms.find(subject)
const readCursor = async () => (await fixture.store.chainLog.cursor('eth'))?.height
/** A new watcher: it writes at most every five seconds that it is at the head. */
const record = () => createRecordBlocks(fixture.dependencies)(fixture.fakes.eth.chain)

describe('a reorganisation of a network (reorg:NETWORK)', () => {
  test('is not reported while nodes do not return the recorded blocks, and nothing is rewound', async () => {
    const { eth } = fixture.fakes
    const { reader } = eth.chain
    await fixture.mineBlocks(6)
    const height = await readCursor()
    eth.reorg(2)
    eth.mine()
    // The node answers for its newest blocks only.
    reader.block = async (at) => (at > (height ?? 0) - 1 ? original.block(at) : null)
    await expect(record()).rejects.toThrow('no node of eth returns block')
    expect(await findAlarm('reorg:eth')).toBeNull()
    expect(await readCursor()).toBe(height)
    reader.block = original.block
    await record()
    expect(await readCursor()).toBe((height ?? 0) + 1)
    expect(await findAlarm('reorg:eth')).toBeNull()
  })

  test('that ends after its blocks were rewound and none was recorded leaves no block out', async () => {
    const { chain } = fixture.fakes.eth
    const { reader } = chain
    await fixture.mineBlocks(3)
    const watch = createRecordBlocks(fixture.dependencies)
    await watch(chain)
    const { height, hash } = await original.head()
    const rename = (at: number, one: string) => (at > height - 2 ? `other ${one}` : one)
    reader.head = async () => ({ height, hash: rename(height, hash) })
    reader.agrees = async () => false
    reader.block = async (at) => {
      if ((await readCursor()) === height - 2) throw new Error('the node stopped')
      const read = await original.block(at)
      return read && { ...read, hash: rename(at, read.hash) }
    }
    await expect(watch(chain)).rejects.toThrow('the node stopped')
    expect(await readCursor()).toBe(height - 2)
    // The same head as before.
    Object.assign(reader, original)
    await watch(chain)
    expect(await readCursor()).toBe(height)
  })

  test('below the stored blocks is an alarm until the blocks are recorded up to the head again', async () => {
    const { reader } = fixture.fakes.eth.chain
    const { block, head } = original
    await fixture.mineBlocks(3)
    // Another chain from the first block on, as after a wrong configuration of a node.
    const rename = (hash: string) => `other ${hash}`
    reader.head = async () => ({ ...(await head()), hash: rename((await head()).hash) })
    reader.block = async (at) => {
      const read = await block(at)
      return read && { ...read, hash: rename(read.hash), parentHash: rename(read.parentHash) }
    }
    reader.agrees = async (ref) => ref.hash === rename((await block(ref.height))?.hash ?? '')
    await expect(record()).rejects.toThrow('below the stored blocks')
    expect(await findAlarm('reorg:eth')).toMatchObject({ severity: 'critical' })
    Object.assign(reader, original)
    await record()
    expect(await findAlarm('reorg:eth')).toBeNull()
  })
})

describe('a deposit that left the chain after its payout was signed (reorg:DEPOSIT)', () => {
  /** An exchange whose payout is signed, and whose deposit has left the chain while the wallet lacks its coins. */
  const loseDeposit = async () => {
    const exchange = await fixture.createExchange()
    const txHash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(2)
    expect(await fixture.readStatus(exchange)).toBe('sending')
    const [payment] = fixture.fakes.btc.listPayments(exchange.deposit.address)
    const wallet = await fixture.readWalletUnits('btc@btc')
    await fixture.insertPayout('btc', wallet - 10_000n, 'customer', 'withdrawal')
    await fixture.services.dispatch('btc')
    expect(await fixture.readWalletUnits('btc@btc')).toBeLessThan(SMALL)
    fixture.fakes.btc.reorg(2, (one) => one === txHash)
    await fixture.runWorkers()
    const subject = `reorg:${(await fixture.readExecution(exchange)).deposit.id}`
    expect(await findAlarm(subject)).toMatchObject({ severity: 'critical', detail: { missing: expect.anything() } })
    return { exchange, payment, subject }
  }

  test('ends when the deposit is back before its loss could be booked', async () => {
    const { exchange, payment, subject } = await loseDeposit()
    fixture.fakes.btc.resubmit(payment)
    await fixture.mineBlocks(6)
    expect((await fixture.readExecution(exchange)).deposit).toMatchObject({ status: 'credited', isBookedAsLoss: false })
    expect(await findAlarm(subject)).toBeNull()
    // Only the operator ends a pause.
    await fixture.store.pauses.resume('asset:btc@btc')
  })
})

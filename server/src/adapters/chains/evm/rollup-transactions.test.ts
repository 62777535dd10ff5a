import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FaultyNode, startFaultyNode } from '../../../../test/adapters/chains/evm/faulty-node.ts'
import { chainOf, network } from '../../../../test/adapters/chains/evm/wallet.ts'
import { receipt as decodeReceipt } from './replies.ts'

/*
 * T13: transactions that rollups and side chains create, of which no recording with a value is published. Their form follows
 * the OP stack's specification of deposits, Nitro's transaction types, CIP-64 of Celo and Bor's state syncs.
 */

const hash = (digit: string) => `0x${digit.repeat(64)}`
const [BLOCK, TX] = [hash('b'), hash('a')]
const HEIGHT = 9
const ALIAS = '0x36BDE71C97B33Cc4729cf772aE268934f7AB70B2'
const RETRYABLES = '0x000000000000000000000000000000000000006E'
const ARBOS = '0x00000000000000000000000000000000000A4B05'

let server: FaultyNode
let chain: ReturnType<typeof chainOf>
let ours: string
beforeAll(async () => {
  server = await startFaultyNode('')
  chain = chainOf([server.url], { expectsTraces: false })
  ours = chain.addresses.deposit(1).address
})
afterAll(() => server?.stop())

type Case = Readonly<{
  title: string
  type: string
  from?: string
  to?: string
  value?: bigint
  others?: Readonly<Record<string, unknown>>
  ok?: boolean
  /** What the transaction adds to the balance of our address. */
  rise: bigint
  /** Of the transfer that the scan reports; null = none. */
  expected: Readonly<{ units: bigint; isSent: boolean }> | null
}>

const deposit = { type: '0x7e', others: { sourceHash: hash('5'), mint: '0x64', isSystemTx: false } }
const cases: readonly Case[] = [
  { title: 'a deposit of the OP stack', ...deposit, value: 100n, rise: 100n, expected: { units: 100n, isSent: false } },
  // The mint stays with the sender, and the value is not transferred.
  { title: 'a failed deposit of the OP stack', ...deposit, value: 100n, ok: false, rise: 0n, expected: null },
  {
    title: 'a deposit that mints more than its value',
    ...deposit,
    value: 7n,
    rise: 7n,
    expected: { units: 7n, isSent: false },
  },
  { title: 'a deposit that only mints', ...deposit, value: 0n, rise: 0n, expected: null },
  {
    title: 'the attributes of layer 1',
    type: '0x7e',
    from: '0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001',
    to: '0x4200000000000000000000000000000000000015',
    others: { sourceHash: hash('5'), mint: '0x0', nonce: '0xffffffffffffffff', isSystemTx: true },
    rise: 0n,
    expected: null,
  },
  {
    title: 'a deposit of ether on Arbitrum',
    type: '0x64',
    value: 12n,
    others: { requestId: hash('6') },
    rise: 12n,
    expected: { units: 12n, isSent: false },
  },
  {
    title: 'a submitted retryable ticket, whose deposit is escrowed',
    type: '0x69',
    to: RETRYABLES,
    others: { requestId: hash('6'), depositValue: '0x64', retryValue: '0x32', retryTo: ALIAS, beneficiary: ALIAS },
    rise: 0n,
    expected: null,
  },
  {
    title: 'a redeemed retryable ticket',
    type: '0x68',
    value: 50n,
    others: { ticketId: hash('7'), refundTo: ALIAS, maxRefund: '0x1' },
    rise: 50n,
    expected: { units: 50n, isSent: false },
  },
  { title: 'the start of a block on Arbitrum', type: '0x6a', from: ARBOS, to: ARBOS, rise: 0n, expected: null },
  {
    title: 'a payment on Celo with fees in a token',
    type: '0x7b',
    value: 3n,
    others: { feeCurrency: '0x765DE816845861e75A25fCA122bb6898B8B1282a', gasPrice: null },
    rise: 3n,
    expected: { units: 3n, isSent: true },
  },
  {
    title: 'a state sync of Bor in the block’s body',
    type: '0x7f',
    from: `0x${'0'.repeat(40)}`,
    to: `0x${'0'.repeat(40)}`,
    rise: 0n,
    expected: null,
  },
  { title: 'a payment of an unknown type', type: '0x50', value: 8n, rise: 8n, expected: { units: 8n, isSent: false } },
]

function serve({ type, from = ALIAS, to = ours, value = 0n, others = {}, ok = true, rise }: Case): void {
  const place = { blockHash: BLOCK, blockNumber: `0x${HEIGHT}`, transactionIndex: '0x0' }
  const transaction = { hash: TX, type, from, to, value: `0x${value.toString(16)}`, nonce: '0x0', input: '0x' }
  const block = { hash: BLOCK, number: `0x${HEIGHT}`, parentHash: hash('c'), timestamp: '0x6b07e37c' }
  const receipt = { ...place, transactionHash: TX, status: ok ? '0x1' : '0x0', gasUsed: '0x0', logs: [] }
  server.set(({ method, params }) => {
    if (method === 'eth_chainId') return { result: `0x${network.evm?.chainId.toString(16)}` }
    if (/^eth_getBlockBy/.test(method))
      return {
        result: { ...block, transactions: params[1] === true ? [{ ...transaction, ...place, ...others }] : [TX] },
      }
    if (method === 'eth_getTransactionReceipt') return { result: receipt }
    if (method === 'eth_getBlockReceipts') return { result: [receipt] }
    if (method === 'eth_getLogs') return { result: [] }
    if (method === 'eth_getBalance')
      return { result: params[1] === `0x${HEIGHT}` ? `0x${(40n + rise).toString(16)}` : '0x28' }
    return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } }
  })
}

test.each(cases)('$title is scanned and credited by what the balance gains', async (one) => {
  serve(one)
  const block = await chain.reader.block(HEIGHT)
  const transfers = block?.transfers.filter(({ address, units }) => address === ours || units > 0n) ?? []
  expect(transfers.map(({ address, units, sender }) => ({ address, units, sender }))).toEqual(
    one.expected === null
      ? []
      : [{ address: ours, units: one.expected.units, sender: one.expected.isSent ? ALIAS : null }],
  )
  for (const transfer of transfers)
    expect(await chain.reader.receivedUnits(transfer, { height: HEIGHT, hash: BLOCK })).toBe(one.rise)
})

test('a deposit whose value did not reach the balance is not credited', async () => {
  serve({ title: '', type: '0x7e', value: 100n, rise: 0n, expected: null })
  const [transfer] = (await chain.reader.block(HEIGHT))?.transfers ?? []
  expect(transfer && (await chain.reader.receivedUnits(transfer, { height: HEIGHT, hash: BLOCK }))).toBe(0n)
})

test('the operator’s fee is counted by the rules of Isthmus and of Jovian', () => {
  const others = { transactionHash: TX, blockHash: BLOCK, blockNumber: '0x9', status: '0x1', logs: [] }
  const fees = { gasUsed: '0x5208', l1Fee: '0x64', operatorFeeScalar: '0x2710', operatorFeeConstant: '0x7' }
  // 21 000 gas at a scalar of 10 000, a constant of 7 and 100 wei for layer 1.
  expect(decodeReceipt({ ...others, ...fees }).rollupFee).toBe(100n + 210n + 7n)
  expect(decodeReceipt({ ...others, ...fees, daFootprintGasScalar: '0x190' }).rollupFee).toBe(
    100n + 21_000_000_000n + 7n,
  )
})

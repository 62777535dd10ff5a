import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FaultyNode, startFaultyNode } from '../../../../test/adapters/chains/evm/faulty-node.ts'
import { chainOf, network } from '../../../../test/adapters/chains/evm/wallet.ts'
import { block as decodeBlock, receipt as decodeReceipt, transaction as decodeTransaction } from './replies.ts'
import { isSigned } from './signed.ts'

/*
 * T13: transactions that rollups and side chains create. Few are published as recordings; the form of the others follows the OP
 * stack's specification of deposits, Nitro's transaction types, CIP-64 of Celo and Bor's state syncs.
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

/**
 * Sei: block 9 lists a payment whose nonce is too high, and block 10 executes it. The receipts of block 9 do not have it, and its own
 * receipt names block 10 (sei-protocol/sei-chain 2fd05843, evmrpc/block.go).
 */
function serveUnexecuted({ refused = '', hashOfNext = hash('e') } = {}): void {
  const next = hash('e')
  const transaction = { hash: TX, type: '0x2', from: ALIAS, to: ours, value: '0x32', nonce: '0x1', input: '0x' }
  const blockAt = (height: number) => ({
    ...{ number: `0x${height.toString(16)}`, timestamp: '0x6b07e37c' },
    ...(height === HEIGHT ? { hash: BLOCK, parentHash: hash('c') } : { hash: next, parentHash: BLOCK }),
  })
  const receipt = { transactionHash: TX, blockHash: next, blockNumber: '0xa', status: '0x1', gasUsed: '0x0', logs: [] }
  server.set(({ method, params: [at, isFull] }) => {
    if (method === refused) return { error: { code: -32601, message: 'the method does not exist' } }
    if (method === 'eth_chainId') return { result: `0x${network.evm?.chainId.toString(16)}` }
    if (/^eth_getBlockBy/.test(method)) {
      const block = blockAt(at === BLOCK || at === '0x9' ? HEIGHT : HEIGHT + 1)
      if (isFull !== true && block.hash === next) return { result: { ...block, hash: hashOfNext, transactions: [TX] } }
      return {
        result: { ...block, transactions: isFull === true ? [{ ...transaction, blockHash: block.hash }] : [TX] },
      }
    }
    if (method === 'eth_getTransactionReceipt') return { result: receipt }
    if (method === 'eth_getBlockReceipts') return { result: at === next ? [receipt] : [] }
    if (method === 'eth_getLogs') return { result: [] }
    if (method === 'eth_getBalance') return { result: at === ours && isFull === '0xa' ? '0x32' : '0x0' }
    if (method === 'debug_traceBlockByHash') {
      const nonce = { code: -32000, message: 'nonce too high' }
      const trace = { type: 'CALL', from: ALIAS, to: ours, value: '0x32' }
      return { result: [{ txHash: TX, ...(at === next ? { result: trace } : { error: nonce }) }] }
    }
    return { error: { code: -32601, message: 'the method does not exist' } }
  })
}

test.each(['', 'eth_getBlockReceipts', 'debug_traceBlockByHash'])(
  'a payment that Sei lists before it is executed is scanned where it is executed, without “%s”',
  async (refused) => {
    serveUnexecuted({ refused })
    const sei = chainOf([server.url], { listsUnexecuted: true })
    const listed = await sei.reader.block(HEIGHT)
    expect([listed?.transfers, listed?.transactions.length]).toEqual([[], 1])
    const [transfer, ...others] = (await sei.reader.block(HEIGHT + 1))?.transfers ?? []
    expect(others).toEqual([])
    expect(transfer).toMatchObject({ identity: TX, address: ours, units: 50n, sender: ALIAS })
    expect(transfer && (await sei.reader.receivedUnits(transfer, { height: HEIGHT + 1, hash: hash('e') }))).toBe(50n)
    expect(sei.notes.length).toBe(refused === 'debug_traceBlockByHash' ? 2 : 0)
  },
)

test('a block is read again if the receipt of its payment names a block that is not on the node’s chain', async () => {
  serveUnexecuted({ hashOfNext: hash('f') })
  const unavailable = { code: 'NETWORK_UNAVAILABLE' }
  const sei = chainOf([server.url], { listsUnexecuted: true })
  await expect(sei.reader.block(HEIGHT)).rejects.toMatchObject(unavailable)
  // On other networks no two blocks of a chain have the same transaction.
  serveUnexecuted()
  await expect(chain.reader.block(HEIGHT)).rejects.toMatchObject(unavailable)
})

test('the operator’s fee is counted by the rules of Isthmus and of Jovian', () => {
  const others = { transactionHash: TX, blockHash: BLOCK, blockNumber: '0x9', status: '0x1', logs: [] }
  const fees = { gasUsed: '0x5208', l1Fee: '0x64', operatorFeeScalar: '0x2710', operatorFeeConstant: '0x7' }
  // 21 000 gas at a scalar of 10 000, a constant of 7 and 100 wei for layer 1.
  expect(decodeReceipt({ ...others, ...fees })).toMatchObject({ l1Fee: 100n, operatorFee: 210n + 7n })
  expect(decodeReceipt({ ...others, ...fees, daFootprintGasScalar: '0x190' })).toMatchObject({
    l1Fee: 100n,
    operatorFee: 21_000_000_000n + 7n,
  })
})

/** With shortened calldata. */
const recorded = {
  // OP Mainnet; github.com/paradigmxyz/reth ec23a214 (MIT, Apache-2.0), crates/optimism/primitives/src/alloy_compat.rs
  opDeposit: {
    hash: '0x3f44a72b1faf70be7295183f1f30cfb51ede92d7c44441ca80c9437a6a22e5a5',
    type: '0x7e',
    depositReceiptVersion: '0x1',
    gas: '0x77f2e',
    gasPrice: '0x0',
    input: '0xd764ad0b',
    mint: '0x1c6bf52634000',
    nonce: '0x5dacf',
    ...{ r: '0x0', s: '0x0', v: '0x0' },
    sourceHash: '0x26eb0df3ebdb8eb11892a336b798948ec846c28200862a67aa32cfd57ca7da4f',
    to: '0x4200000000000000000000000000000000000007',
    value: '0x1c6bf52634000',
    blockHash: '0x0d7f8b9def6f5d3ba2cbeee2e31e730da81e2c474fa8c3c9e8d0e6b96e37d182',
    blockNumber: '0x1966297',
    transactionIndex: '0x1',
    from: '0x977f82a600a1414e583f7f13623f1ac5d58b1c0b',
  },
  // Arbitrum One; github.com/nuntax/arb-alloy d2cab2a8 (Apache-2.0, MIT), crates/arb-alloy/tests/arb_integration.rs
  nitroInternal: {
    blockHash: '0x17e4bcc759042396d9668b5bdcfc7cb293eadf53686e65753b5774e038ccbdbe',
    blockNumber: '0x19adf086',
    from: '0x00000000000000000000000000000000000a4b05',
    gas: '0x0',
    gasPrice: '0x0',
    hash: '0x26ae3f2abe865feb7927210b03f5137af48b5f2ee25e748cb411c0f5f9ebb9de',
    input: '0x6bf6a42d',
    nonce: '0x0',
    to: '0x00000000000000000000000000000000000a4b05',
    transactionIndex: '0x0',
    value: '0x0',
    type: '0x6a',
    chainId: '0xa4b1',
    ...{ r: '0x0', s: '0x0', v: '0x0' },
  },
  nitroInternalReceipt: {
    blockHash: '0x5ed6c1968fb0bb3e119774f6c29891a50307306019d3086b5bf6a63162b7cfc0',
    blockNumber: '0x19adf31d',
    contractAddress: null,
    cumulativeGasUsed: '0x0',
    effectiveGasPrice: '0x13524a0',
    from: '0x00000000000000000000000000000000000a4b05',
    gasUsed: '0x0',
    gasUsedForL1: '0x0',
    l1BlockNumber: '0x174c883',
    logs: [],
    status: '0x1',
    timeboosted: false,
    to: '0x00000000000000000000000000000000000a4b05',
    transactionHash: '0xc234a3c1d6418a2908aac0e1b203a9e36772136ece179c0c9d0fe466f98c76a9',
    transactionIndex: '0x0',
    type: '0x6a',
  },
  // Sei's server in its own test; github.com/sei-protocol/sei-chain 03d4ab67 (Apache-2.0), evmrpc/block_test.go
  seiBlock: {
    difficulty: '0x0',
    extraData: '0x',
    gasLimit: '0xbebc200',
    gasUsed: '0x5',
    hash: '0x0000000000000000000000000000000000000000000000000000000000000001',
    miner: '0x0000000000000000000000000000000000000005',
    mixHash: '0x0000000000000000000000000000000000000000000000000000000000000000',
    nonce: '0x0000000000000000',
    number: '0x8',
    parentHash: '0x0000000000000000000000000000000000000000000000000000000000000006',
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    size: '0x279',
    timestamp: '0x65254651',
    transactions: [
      {
        blockHash: '0x0000000000000000000000000000000000000000000000000000000000000001',
        from: '0x5b4eba929f3811980f5ae0c5d04fa200f837df4e',
        gas: '0x3e8',
        gasPrice: '0xa',
        maxFeePerGas: '0xa',
        maxPriorityFeePerGas: '0x0',
        hash: '0xa16d8f7ea8741acd23f15fc19b0dd26512aff68c01c6260d7c3a51b297399d32',
        input: '0x616263',
        nonce: '0x1',
        to: '0x0000000000000000000000000000000000010203',
        transactionIndex: '0x0',
        value: '0x3e8',
        type: '0x2',
        accessList: [],
        chainId: '0xae3f2',
        ...{ v: '0x1', yParity: '0x1' },
      },
    ],
    baseFeePerGas: '0x3b9aca00',
    totalDifficulty: '0x0',
  },
}

test('recorded transactions of op-geth and nitro, and a block of Sei, are decoded', () => {
  const deposit = decodeTransaction(recorded.opDeposit)
  expect(deposit).toMatchObject({ type: 126, value: 500_000_000_000_000n, nonce: 383_695 })
  const internal = decodeTransaction(recorded.nitroInternal)
  expect(internal).toMatchObject({ type: 106, value: 0n, from: ARBOS, to: ARBOS })
  expect([deposit, internal].map(isSigned)).toEqual([false, false])
  const internalReceipt = { ok: true, gasUsed: 0n, l1Fee: 0n, operatorFee: 0n, logs: [] }
  expect(decodeReceipt(recorded.nitroInternalReceipt)).toMatchObject(internalReceipt)
  const { height, time, logsBloom, transactions } = decodeBlock(recorded.seiBlock)
  expect([height, time, logsBloom]).toEqual([8, 1_696_941_649, null])
  expect(transactions).toMatchObject([{ type: 2, value: 1_000n, nonce: 1, input: '0x616263' }])
  expect(transactions.map(isSigned)).toEqual([true])
})

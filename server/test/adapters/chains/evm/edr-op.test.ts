import { afterAll, beforeAll, expect, test } from 'vitest'
import { signEvm } from '../../../../src/adapters/chains/evm/sign.ts'
import type { SpendRequest, UnsignedTransaction } from '../../../../src/exchange/ports/chain.ts'
import type { KeyPath } from '../../../../src/exchange/ports/spend.ts'
import { L1_BLOCK, startEdr } from './edr.ts'
import type { TestNode } from './test-node.ts'
import { chainOf, keys, native, pay } from './wallet.ts'

// T13: the fees of the OP stack, with the oracle of the real chains and edr's execution of Isthmus.

/** The slot of the operator's fee in the predeploy with the prices of layer 1. */
const OPERATOR_FEE = '0x8'
const HOT: KeyPath = { branch: 'hot', index: 0 }
const ether = 10n ** 18n

let evm: TestNode
let chain: ReturnType<typeof chainOf>
let nonce = 0

const word = (...parts: readonly (readonly [value: bigint, bytes: number])[]) =>
  `0x${parts
    .map(([value, bytes]) => value.toString(16).padStart(2 * bytes, '0'))
    .join('')
    .padStart(64, '0')}`

beforeAll(async () => {
  evm = await startEdr({ chain: 'op', tracesBlocks: true })
  chain = chainOf([evm.url])
  await evm.sendAndMine({ to: chain.addresses.hot(), value: 100n * ether })
})
afterAll(() => evm?.stop())

/** Scalar in millionths of a wei per gas, and wei per transaction. */
const setOperatorFee = (scalar: bigint, constant: bigint) =>
  evm.request('hardhat_setStorageAt', [L1_BLOCK, OPERATOR_FEE, word([scalar, 4], [constant, 8])])

const balance = (address: string) => chain.reader.balance(address, native)

async function build(address: string, units: bigint, parts: Partial<SpendRequest> = {}): Promise<UnsignedTransaction> {
  const payment = pay(address, native, units)
  const from = parts.from ?? HOT
  const gasLimit = await chain.sender.gasLimit(payment, from)
  const [fee, fixed] = [await chain.reader.feeRate(), { utxos: [], changeIndex: 0, replaces: null, sweepAll: false }]
  return chain.sender.build({ payments: [payment], from, fee, gasLimit, ...fixed, nonce: nonce++, ...parts })
}

/** Sends a payout and returns the fee that we book and the one that the wallet paid. */
async function payOut(units: bigint) {
  const [hot, to] = [chain.addresses.hot(), chain.addresses.deposit(7_000 + nonce).address]
  const before = await balance(hot)
  const unsigned = await build(to, units)
  const { raw, txHash } = signEvm(unsigned.intent, keys)
  expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
  await evm.mine()
  const observed = await chain.sender.observe({ txHash, conflictKey: unsigned.conflictKey })
  if (observed.kind !== 'included') throw new Error(observed.kind)
  const receipt = await evm.request<Record<string, string>>('eth_getTransactionReceipt', [txHash])
  const read = (name: string) => BigInt(receipt[name] ?? 0)
  const paid = before - (await balance(hot)) - units
  const [gas, l1Fee] = [read('gasUsed'), read('l1Fee')]
  return {
    unsigned,
    booked: observed.feeUnits,
    paid,
    gas,
    l1Fee,
    others: paid - gas * read('effectiveGasPrice') - l1Fee,
  }
}

test('the fee of a payout is what the wallet paid: gas and layer 1', async () => {
  await setOperatorFee(0n, 0n)
  const { unsigned, booked, paid, l1Fee, others } = await payOut(ether)
  expect(booked).toBe(paid)
  expect(others).toBe(0n)
  expect(l1Fee).toBeGreaterThan(0n)
  expect(paid).toBeLessThanOrEqual(unsigned.feeUnits)
  // The estimate is larger, by its margin.
  expect((await chain.reader.feeRate()).l1Fee).toBeGreaterThan(l1Fee)
})

test('the fee of a payout includes the fee of the operator', async () => {
  await setOperatorFee(2_500_000n, 1_234n)
  const { booked, paid, gas, others } = await payOut(ether)
  expect(booked).toBe(paid)
  expect([gas, others]).toEqual([21_000n, 52_500n + 1_234n])
})

test('a sweep in the block of a deposit does not reduce its received units by the fees of layer 1 and the operator', async () => {
  await setOperatorFee(1_000_000n, 99n)
  const path: KeyPath = { branch: 'deposit', index: 7_500 }
  const { address } = chain.addresses.deposit(path.index)
  await evm.sendAndMine({ to: address, value: ether })
  const { raw } = signEvm(
    (await build(chain.addresses.hot(), ether, { from: path, nonce: 0, sweepAll: true })).intent,
    keys,
  )
  expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
  await evm.send({ to: address, value: 5n * ether })
  const block = await chain.reader.block(await evm.mine())
  const transfer = block?.transfers.find((one) => one.address === address)
  if (!block || !transfer) throw new Error('the scan found no transfer')
  expect(block.transactions).toHaveLength(2)
  expect(await chain.reader.receivedUnits(transfer, block)).toBe(5n * ether)
})

import { encodeFunctionData, type Hex, parseAbi, parseTransaction } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { swapRouter } from '../../../../contracts/src/index.ts'
import type { Json } from '../../../../test/support/scenario.ts'
import { decodeSwap } from '../../../src/adapters/dex/encode-swap.ts'
import { createAdminLists } from '../../../src/adapters/postgres/admin/lists.ts'
import { createSwapFeeStore } from '../../../src/adapters/postgres/swap/swap-fees.ts'
import { type Operator, startOperator } from './operator.ts'
import { LOCK_MS, NATIVE, type Stage, sendBodyOf, sign, startStage } from './partner.ts'

const NETWORK = 'uni'
/** Blocks until finality in the sandbox, plus one. */
const FINAL = 11
const taker = privateKeyToAccount(generatePrivateKey()).address

let stage: Stage
let operator: Operator
let usdc: Hex
beforeAll(async () => {
  stage = await startStage(NETWORK, { swaps: { feeAddresses: new Map([[NETWORK, taker]]) } })
  usdc = stage.token('usdc')
  operator = await startOperator(stage)
}, LOCK_MS)
afterAll(async () => {
  operator.stop()
  await stage.scenario.stop()
})

const request = () => ({ fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1', slippage: '5', referrerFee: '1' })
const send = (body: object) => stage.scenario.call('POST', '/v1/defi/send/swap', body)
const feeStore = () => createSwapFeeStore(stage.scenario.app.database)
const listUnclaimed = async () =>
  (await createAdminLists(stage.scenario.app.database).unclaimedFees({ cursor: null, limit: 10 })).data

async function build(user: PrivateKeyAccount): Promise<string> {
  const { status, body } = await stage.build({ ...request(), account: user.address })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.at(-1)
}

/** Broadcasts directly to a node, without our API. */
async function broadcastDirectly(raw: Hex): Promise<Hex> {
  const hash = await stage.client.sendRawTransaction({ serializedTransaction: raw })
  await stage.scenario.mine(NETWORK, 1)
  expect((await stage.client.waitForTransactionReceipt({ hash })).status).toBe('success')
  return hash
}

/** Sum of the token that is owed to all partners. */
async function readOwed(): Promise<bigint> {
  const [row] = await stage.scenario.app.database.query<{ units: string }>(
    "select coalesce(-sum(units), 0) as units from balances where account like 'liability:partner:%' and asset_id = $1",
    [`${usdc.toLowerCase()}@${NETWORK}`],
  )
  return BigInt(row?.units ?? 0)
}
const readHeld = () => stage.balance(usdc, taker)
const scannedHeight = () => feeStore().readScannedHeight(NETWORK, 0)
const waitUntilOwed = (units: bigint) =>
  stage.scenario.until(`${units} are owed`, async () => (await readOwed()) === units)

/** Waits until every block that is final now has been scanned. */
async function waitForScan(): Promise<void> {
  const final = Number(await stage.client.getBlockNumber()) - FINAL + 2
  await stage.scenario.until('the final blocks are scanned', async () => (await scannedHeight()) >= final)
}

describe('the fee of an unreported swap', { timeout: LOCK_MS }, () => {
  test('sent with isExchange: false is owed once it is final, and only once if it is reported or scanned again', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await build(user))
    const body = { ...sendBodyOf(stage, user, request(), '1'), rawTx }
    await stage.scenario.setMiningPaused(NETWORK, true)
    const sent = await send({ ...body, isExchange: false })
    expect(sent.status, JSON.stringify(sent.body)).toBe(201)
    const hash = JSON.parse(sent.body)
    await stage.scenario.mine(NETWORK, FINAL - 2)
    const fee = await readHeld()
    expect(fee).toBeGreaterThan(0n)
    // Not final yet: a reorg may still remove it.
    await waitForScan()
    expect(await readOwed()).toBe(0n)
    await stage.scenario.setMiningPaused(NETWORK, false)
    await stage.scenario.mine(NETWORK, FINAL)
    await waitUntilOwed(fee)
    expect((await stage.list()).exchanges.map((one: Json) => one.hash)).not.toContain(hash)
    await stage.scenario.checkInvariants()

    expect((await send({ ...body, rawTx: undefined, hash })).status).toBe(201)
    const row = await stage.becomes(hash, 'finished')
    expect(row.hash).toBe(hash)
    const { blockNumber } = await stage.client.getTransactionReceipt({ hash })
    const from = Number(blockNumber) - 1
    expect((await operator.partners('fees-search', NETWORK, String(from))).lines).toEqual([
      { network: NETWORK, searchedTo: from },
    ])
    await waitForScan()
    expect(await readOwed()).toBe(fee)
    expect(await listUnclaimed()).toEqual([])
    await stage.scenario.checkInvariants()
  })

  test('broadcast while no worker runs, reorged and mined again, is booked from the final chain', async () => {
    const [before, paid] = [await readOwed(), await readHeld()]
    const [first, second] = [await stage.user(), await stage.user()]
    const [rawMined, rawDropped] = [await sign(first, await build(first)), await sign(second, await build(second))]
    // The users' funding is below the reorg.
    await stage.scenario.mine(NETWORK, 8)
    await stage.scenario.stopWorkers()
    await stage.scenario.setMiningPaused(NETWORK, true)
    const hashes = [await broadcastDirectly(rawMined), await broadcastDirectly(rawDropped)]
    expect(await readHeld()).toBeGreaterThan(paid)
    await stage.scenario.reorg(NETWORK, 5)
    for (const hash of hashes) await stage.rpc('anvil_dropTransaction', hash)
    expect(await readHeld()).toBe(paid)
    await broadcastDirectly(rawMined)
    const fee = (await readHeld()) - paid
    expect(fee).toBeGreaterThan(0n)
    await stage.scenario.mine(NETWORK, 2 * FINAL)
    await stage.scenario.setMiningPaused(NETWORK, false)
    expect(await readOwed()).toBe(before)
    await stage.scenario.startWorkers()
    await waitUntilOwed(before + fee)
    await stage.scenario.checkInvariants()
  })

  test('with terms that were not built, or through another contract, is listed as unclaimed', async () => {
    const before = await readOwed()
    const user = await stage.user()
    const unsigned = parseTransaction((await build(user)) as Hex)
    const call = decodeSwap(unsigned.data ?? '0x')
    if (call === null) throw new Error('not a call of the router')
    const { route, ...order } = call
    const encodeWith = (changes: Partial<typeof order>) =>
      encodeFunctionData({ abi: swapRouter.abi, functionName: 'swap', args: [{ ...order, ...changes }, route] })
    const own = { chainId: stage.chainId, gas: 3_000_000n, type: 'eip1559' } as const
    const fees = {
      maxFeePerGas: unsigned.maxFeePerGas ?? 0n,
      maxPriorityFeePerGas: unsigned.maxPriorityFeePerGas ?? 0n,
    }
    const paid = await readHeld()
    const other = await broadcastDirectly(
      await user.signTransaction({
        ...own,
        ...{ ...fees, to: stage.router, value: order.amountIn, data: encodeWith({ minOut: 1n }) },
        nonce: unsigned.nonce ?? 0,
      }),
    )
    const first = (await readHeld()) - paid
    const target = '0xcA11bde05977b3631167028862bE2a173976CA11'
    const data = encodeFunctionData({
      abi: parseAbi([
        'function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls) payable',
      ]),
      args: [[{ target: stage.router, allowFailure: false, value: order.amountIn, callData: encodeWith({}) }]],
    })
    const through = await broadcastDirectly(
      await user.signTransaction({
        ...own,
        ...{ ...fees, to: target, value: order.amountIn, data, nonce: (unsigned.nonce ?? 0) + 1 },
      }),
    )
    const second = (await readHeld()) - paid - first
    // A fee of another recipient makes no row (D10).
    const stranger = privateKeyToAccount(generatePrivateKey()).address
    await broadcastDirectly(
      await user.signTransaction({
        ...own,
        ...{ ...fees, to: stage.router, value: order.amountIn, data: encodeWith({ feeTo: stranger }) },
        nonce: (unsigned.nonce ?? 0) + 2,
      }),
    )
    await stage.scenario.mine(NETWORK, FINAL)
    await waitForScan()
    const rows = await listUnclaimed()
    expect(rows).toHaveLength(2)
    const shared = {
      network: NETWORK,
      token: usdc.toLowerCase(),
      feeTo: taker.toLowerCase(),
      executor: order.executor.toLowerCase(),
      ref: order.ref,
    }
    expect(new Map(rows.map((row) => [row['hash'], row]))).toMatchObject(
      new Map([
        [other, { ...shared, units: String(first), sender: user.address.toLowerCase() }],
        [through, { ...shared, units: String(second), sender: target.toLowerCase() }],
      ]),
    )
    const { lines } = await operator.partners('fees-unclaimed')
    expect(lines.map(({ hash, units }) => [hash, units])).toEqual(rows.map(({ hash, units }) => [hash, units]))
    expect((await operator.partners('fees-search', NETWORK, '999999999')).error).toContain('has been searched yet')
    expect(await readOwed()).toBe(before)
  })
})

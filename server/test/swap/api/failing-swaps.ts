import { type Hex, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { whileMiningPaused } from '../../../../test/support/mining.ts'
import type { Json } from '../../../../test/support/scenario.ts'
import { NATIVE, type Stage, sendBodyOf, sign, trade } from './partner.ts'
import { nativeAmountFor } from './paying-swaps.ts'

/** Time without any node knowing a swap, after which it counts as dropped. */
export const DROPPED_MS = 6_000
/** The pools between native currency and stablecoins hold about 25 million. */
const WHALE_USD = 9_000_000

const request = (stage: Stage, changes: Readonly<Record<string, string>> = {}) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1', slippage: '1', referrerFee: '0' },
  ...changes,
})

/** Replaces a transaction with a higher fee, as a wallet's "cancel" does. */
async function cancel(stage: Stage, user: PrivateKeyAccount, rawTx: Hex): Promise<Hex> {
  const { nonce, maxFeePerGas = 0n } = parseTransaction(rawTx)
  const fees = { maxFeePerGas: maxFeePerGas * 3n, maxPriorityFeePerGas: maxFeePerGas * 2n }
  const own = { chainId: stage.chainId, nonce: nonce ?? 0, to: user.address, value: 0n, gas: 21_000n }
  return user.signTransaction({ ...own, ...fees, type: 'eip1559' })
}

/** The price moves beyond the slippage before the swap is mined (B142). */
export async function isReverted(stage: Stage): Promise<void> {
  const whaleAmount = await nativeAmountFor(stage, WHALE_USD)
  const [user, whale] = [await stage.user(), await stage.user({ native: String(Number(whaleAmount) + 50) })]
  const order = request(stage, { amount: '5', slippage: '0.1' })
  const built = await stage.build({ ...order, account: user.address })
  await trade(stage, whale, request(stage, { amount: whaleAmount, slippage: '50' }))
  await stage.scenario.mine(stage.network, 1)
  const rawTx = await sign(user, built.body[0])
  const sent = await stage.send({ ...sendBodyOf(stage, user, order, '9000'), rawTx })
  expect(sent.status).toBe(201)
  await stage.scenario.mine(stage.network, 3)
  const row = await stage.becomes(JSON.parse(sent.body), 'failed')
  expect(row).toMatchObject({ statusReason: 'reverted', amountTo: '9000' })
  expect(await stage.balance(stage.token('usdc'), user.address)).toBe(0n)
}

/** Another transaction uses its nonce. */
export async function isReplaced(stage: Stage): Promise<void> {
  const user = await stage.user()
  const hash = await whileMiningPaused(stage.scenario, stage.network, async () => {
    const { rawTx, hash } = await trade(stage, user, request(stage))
    expect((await stage.becomes(hash, 'pending')).statusReason).toBeNull()
    await stage.client.sendRawTransaction({ serializedTransaction: await cancel(stage, user, rawTx) })
    await stage.scenario.mine(stage.network, 12)
    return hash
  })
  expect(await stage.becomes(hash, 'failed')).toMatchObject({ statusReason: 'replaced' })
}

/** Every node drops it; a new broadcast before the deadline recovers it. */
export async function isDroppedAndRecovers(stage: Stage): Promise<void> {
  const user = await stage.user()
  const { rawTx, hash } = await whileMiningPaused(stage.scenario, stage.network, async () => {
    const sent = await trade(stage, user, request(stage))
    await stage.becomes(sent.hash, 'pending')
    await stage.rpc('anvil_dropTransaction', sent.hash)
    return sent
  })
  expect(await stage.becomes(hash, 'failed')).toMatchObject({ statusReason: 'dropped' })
  await stage.client.sendRawTransaction({ serializedTransaction: rawTx })
  await stage.scenario.mine(stage.network, 3)
  const row = await stage.becomes(hash, 'finished')
  expect(row.statusReason).toBeNull()
  expect(await stage.balance(stage.token('usdc'), user.address)).toBeGreaterThan(0n)
}

/** A reorg reopens a finished swap, which then follows the new chain. */
export async function isReopenedByReorg(stage: Stage): Promise<void> {
  const user = await stage.user()
  const usdc = stage.token('usdc')
  // The user's funding is below the reorg.
  await stage.scenario.mine(stage.network, 8)
  const { before, hash } = await whileMiningPaused(stage.scenario, stage.network, async () => {
    const { rawTx, hash } = await trade(stage, user, request(stage))
    await stage.scenario.mine(stage.network, 3)
    const before = await stage.becomes(hash, 'finished')
    expect(await stage.balance(usdc, user.address)).toBeGreaterThan(0n)
    await stage.scenario.until('it is in no block', async () => {
      await stage.scenario.reorg(stage.network, 6)
      // The node may return the transaction to its pool after the reorg, and then mine it in the last block of the new branch.
      await stage.rpc('anvil_dropTransaction', hash)
      return (await stage.rpc('eth_getTransactionReceipt', hash)) === null
    })
    // Pending, and after `DROPPED_MS` without any node that knows it failed: a slow machine may see only that.
    await stage.scenario.until('it is open again', async () =>
      (await stage.rows()).some((one: Json) => one.hash === hash && one.status !== 'finished'),
    )
    expect(await stage.balance(usdc, user.address)).toBe(0n)
    await stage.client.sendRawTransaction({ serializedTransaction: rawTx })
    return { before, hash }
  })
  await stage.scenario.mine(stage.network, 3)
  const after = await stage.becomes(hash, 'finished')
  expect(after.id).toBe(before.id)
  expect(BigInt(after.amountTo.replace('.', ''))).toBeGreaterThan(0n)
}

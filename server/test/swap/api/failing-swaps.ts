import { type Hex, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { whilePaused } from '../../../../test/support/mining.ts'
import type { Json } from '../../../../test/support/scenario.ts'
import { NATIVE, type Stage, sendBodyOf, sign, trade } from './partner.ts'
import { nativeAmountFor } from './paying-swaps.ts'

/** For how long no node may know a swap. */
export const DROPPED_MS = 6_000
/** Of some twenty-five millions in the pools between the coin and dollars. */
const WHALE_USD = 9_000_000

const asked = (stage: Stage, changes: Readonly<Record<string, string>> = {}) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1', slippage: '1', referrerFee: '0' },
  ...changes,
})

/** A user with more fees on the same nonce: what a wallet's "cancel" does. */
async function cancel(stage: Stage, user: PrivateKeyAccount, rawTx: Hex): Promise<Hex> {
  const { nonce, maxFeePerGas = 0n } = parseTransaction(rawTx)
  const fees = { maxFeePerGas: maxFeePerGas * 3n, maxPriorityFeePerGas: maxFeePerGas * 2n }
  const own = { chainId: stage.chainId, nonce: nonce ?? 0, to: user.address, value: 0n, gas: 21_000n }
  return user.signTransaction({ ...own, ...fees, type: 'eip1559' })
}

/** The pools moved beyond its slippage in between. */
export async function isReverted(stage: Stage): Promise<void> {
  const whaleHas = await nativeAmountFor(stage, WHALE_USD)
  const [user, whale] = [await stage.user(), await stage.user({ native: String(Number(whaleHas) + 50) })]
  const order = asked(stage, { amount: '5', slippage: '0.1' })
  const built = await stage.build({ ...order, account: user.address })
  await trade(stage, whale, asked(stage, { amount: whaleHas, slippage: '50' }))
  await stage.scenario.mine(stage.network, 1)
  const rawTx = await sign(user, built.body[0])
  const sent = await stage.send({ ...sendBodyOf(stage, user, order, '9000'), rawTx })
  expect(sent.status).toBe(201)
  await stage.scenario.mine(stage.network, 3)
  const row = await stage.becomes(JSON.parse(sent.body), 'failed')
  expect(row).toMatchObject({ statusReason: 'reverted', amountTo: '9000' })
  expect(await stage.balance(stage.token('usdc'), user.address)).toBe(0n)
}

/** Another transaction took its nonce. */
export async function isReplaced(stage: Stage): Promise<void> {
  const user = await stage.user()
  const hash = await whilePaused(stage.scenario, stage.network, async () => {
    const { rawTx, hash } = await trade(stage, user, asked(stage))
    expect((await stage.becomes(hash, 'pending')).statusReason).toBeNull()
    await stage.client.sendRawTransaction({ serializedTransaction: await cancel(stage, user, rawTx) })
    await stage.scenario.mine(stage.network, 12)
    return hash
  })
  expect(await stage.becomes(hash, 'failed')).toMatchObject({ statusReason: 'replaced' })
}

/** No node knows it any more, and it is taken up again if it comes back before its deadline. */
export async function isDroppedAndRecovers(stage: Stage): Promise<void> {
  const user = await stage.user()
  const { rawTx, hash } = await whilePaused(stage.scenario, stage.network, async () => {
    const sent = await trade(stage, user, asked(stage))
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

/** A reorg under a finished swap opens it again, and it ends as the chain ends. */
export async function isReopenedByReorg(stage: Stage): Promise<void> {
  const user = await stage.user()
  const usdc = stage.token('usdc')
  // Its coins lie below the reorg.
  await stage.scenario.mine(stage.network, 8)
  const { before, hash } = await whilePaused(stage.scenario, stage.network, async () => {
    const { rawTx, hash } = await trade(stage, user, asked(stage))
    await stage.scenario.mine(stage.network, 3)
    const before = await stage.becomes(hash, 'finished')
    expect(await stage.balance(usdc, user.address)).toBeGreaterThan(0n)
    await stage.scenario.reorg(stage.network, 6)
    // Whether the node keeps what a reorg took out is the node's: gone for certain.
    await stage.rpc('anvil_dropTransaction', hash).catch(() => null)
    await stage.scenario.until('it is open again', async () =>
      (await stage.rows()).some((one: Json) => one.hash === hash && one.status === 'pending'),
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

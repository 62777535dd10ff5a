import { fromBase64 } from '@mysten/sui/utils'
import { expect } from 'vitest'
import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { startSui } from './start-sui.ts'

export const SUI = '0x2::sui::SUI'
export const usdc = suiTokens[0]?.type ?? ''

type Started = Pick<Awaited<ReturnType<typeof startSui>>, 'pools' | 'chain' | 'createFunded'>

/** A swap of ten SUI in the first pool, which is executed but in no checkpoint. Returns its hash. */
export async function sendSwap(
  { pools, chain, createFunded }: Started,
  terms: Pick<SwapOrder, 'ref' | 'feePpm' | 'feeTo' | 'expiry'>,
): Promise<string> {
  const { keypair, address: account } = createFunded(50_000_000_000n)
  const [pool] = pools.current()?.pools ?? []
  if (pool === undefined) throw new Error('no pool')
  const amountIn = 10_000_000_000n
  const executed = executeRoute([{ pool, tokenIn: 0, tokenOut: 1, share: SHARE_ALL }], SUI, usdc, amountIn)
  if (executed.amountOut === null) throw new Error('the pool cannot trade')
  const order: SwapOrder = {
    ...{ account, recipient: account, tokenIn: SUI, tokenOut: usdc, amountIn, minReceived: 1n },
    ...{ ...terms, swaps: executed.swaps },
  }
  const { swap } = await chain.prepare(order)
  const raw = JSON.stringify(await keypair.signTransaction(fromBase64(swap)))
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  return (await chain.readSigned(raw)).hash
}

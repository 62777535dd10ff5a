import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, hex, startAnvil } from './anvil.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { chainOf } from './wallet.ts'

/** Slots per epoch. In anvil `safe` is one epoch below the head and `finalized` two. */
const SLOTS = 4

describe('finality tags', () => {
  let anvil: Anvil
  let second: FaultyNode
  let chain: ReturnType<typeof chainOf>
  beforeAll(async () => {
    anvil = await startAnvil(['--slots-in-an-epoch', String(SLOTS)])
    second = await startFaultyNode(anvil.url)
    chain = chainOf([anvil.url, second.url])
  })
  afterAll(async () => {
    await Promise.all([anvil.stop(), second.stop()])
  })

  test('have the heights that the node reports', async () => {
    const height = await anvil.mine(5 * SLOTS)
    expect(await chain.reader.tagHeight('safe')).toBe(height - SLOTS)
    expect(await chain.reader.tagHeight('finalized')).toBe(height - 2 * SLOTS)
  })

  test('have the lowest height of all nodes', async () => {
    const height = await anvil.mine()
    const early = await anvil.request('eth_getBlockByNumber', [hex(3), false])
    second.set(({ params }) => (params[0] === 'safe' ? { result: early } : undefined))
    expect(await chain.reader.tagHeight('safe')).toBe(3)
    expect(await chain.reader.tagHeight('finalized')).toBe(height - 2 * SLOTS)
    second.set(() => undefined)
  })

  test('are null if a node refuses the tag or lacks its block, and fail if a node does not answer', async () => {
    second.set(({ params }) =>
      params[0] === 'safe' ? { error: { code: -39001, message: 'safe block not found' } } : undefined,
    )
    expect(await chain.reader.tagHeight('safe')).toBeNull()
    second.set(({ params }) => (params[0] === 'safe' ? { result: null } : undefined))
    expect(await chain.reader.tagHeight('safe')).toBeNull()
    second.set(({ params }) => (params[0] === 'safe' ? { status: 503 } : undefined))
    await expect(chain.reader.tagHeight('safe')).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    second.set(() => undefined)
  })
})

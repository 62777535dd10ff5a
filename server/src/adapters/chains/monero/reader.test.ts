import { expect, test } from 'vitest'
import { xmr } from '../../../../networks/xmr.ts'
import { resolveNetwork } from '../../../core/domain/network.ts'
import type { RecordedUtxo } from '../../../exchange/ports/spend.ts'
import { createWalletKeys } from './keys.ts'
import type { MoneroNode } from './node.ts'
import { createOutputOrigins } from './output-origins.ts'
import { createReader } from './reader.ts'
import { spendKeyOf, viewKeysOf } from './view-keys.ts'
import type { Wallet, WalletSession } from './wallet.ts'
import { createWalletOutputs } from './wallet-outputs.ts'

const seedKey = new Uint8Array(32).fill(7)
const keys = createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
const KEY_IMAGE = 'aa'.repeat(32)
const deposit = { identity: 'bb'.repeat(32), txHash: 'cc'.repeat(32) }
const recorded: RecordedUtxo = { outpoint: KEY_IMAGE, units: 5n, path: { branch: 'deposit', index: 0 }, deposit }
const transfer = { ...deposit, address: 'address', contract: null, units: 5n }
const block = { height: 1, hash: 'dd'.repeat(32) }

/** A reader of a node without transactions, and of a wallet program without outputs. */
function startReader({ isSpent = false, isOpen = true } = {}) {
  const calls: string[] = []
  const wallet = {
    outputs: async () => new Map(),
    listSpent: async () => new Set(),
    extendLookahead: async () => undefined,
    scan: async () => void calls.push('scan'),
    rescan: async () => void calls.push('rescan'),
  } as unknown as Wallet
  const session: WalletSession = {
    // Opens it, which may last for hours.
    run: () => new Promise(() => undefined),
    runIfOpen: async (work) => {
      if (isOpen) return work(wallet)
      throw new Error('the wallet is not open yet')
    },
    close: async () => undefined,
  }
  const node = { areSpent: async () => [isSpent], transactions: async () => [] } as unknown as MoneroNode
  const origins = createOutputOrigins()
  const outputs = createWalletOutputs({ origins, nodes: [node] })
  const network = resolveNetwork(xmr, 'sandbox')
  return { calls, reader: createReader({ network, nodes: [node], keys, origins, outputs, wallet: session }) }
}

test('D47: a deposit waits if the wallet program does not find its output', async () => {
  const { reader, calls } = startReader()
  await expect(reader.receivedUnits(transfer, block)).rejects.toThrow('does not have a transaction in its block')
  expect(await reader.findMissingUtxos?.([recorded])).toEqual([KEY_IMAGE])
  expect(calls).toEqual(['scan'])
  await expect(reader.receivedUnits(transfer, block)).rejects.toThrow('the wallet program does not find an output')
})

test('the wallet program does not look for an output that the nodes report as spent', async () => {
  const { reader, calls } = startReader({ isSpent: true })
  expect(await reader.findMissingUtxos?.([recorded])).toEqual([KEY_IMAGE])
  expect(calls).toEqual([])
})

test('a comparison does not wait for a wallet that is not open', async () => {
  const { reader } = startReader({ isOpen: false })
  await expect(reader.findMissingUtxos?.([recorded])).rejects.toThrow('not open yet')
})

import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import type { Transaction } from '@mysten/sui/transactions'
import { onTestFinished } from 'vitest'
import { type SuiNodeSettings, startSuiNode } from './sui-node.ts'

export const SUI = 1_000_000_000n

/** A node whose time and checkpoints the test decides, with Mysten's own client in front of it. */
export async function startTestNode(settings: SuiNodeSettings = {}) {
  let timeMs = 1_800_000_000_000
  const ticks: (() => void)[] = []
  const node = await startSuiNode({
    clock: {
      now: () => timeMs,
      every(_intervalMs, run) {
        ticks.push(run)
        return () => undefined
      },
    },
    notify: () => undefined,
    ...settings,
  })
  onTestFinished(() => node.stop())
  const client = new SuiGrpcClient({ network: 'localnet', baseUrl: node.url })
  return {
    node,
    client,
    /** The checkpoint interval passes. */
    tick(ms = 250) {
      timeMs += ms
      for (const run of ticks) run()
    },
    /** A new address with one coin. */
    createFunded(amount = 10n * SUI) {
      const keypair = Ed25519Keypair.generate()
      const coin = node.mint(keypair.toSuiAddress(), amount)
      return { keypair, address: keypair.toSuiAddress(), coin }
    },
    /** Builds with the node's help and signs. */
    async sign(transaction: Transaction, keypair: Ed25519Keypair) {
      transaction.setSenderIfNotSet(keypair.toSuiAddress())
      const bytes = await transaction.build({ client })
      const { signature } = await keypair.signTransaction(bytes)
      return { bytes, signature }
    },
  }
}

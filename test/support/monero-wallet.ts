import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWalletKeys } from '../../server/src/adapters/chains/monero/keys.ts'
import { createWalletSession, INDEX_FILE, type WalletOutput } from '../../server/src/adapters/chains/monero/wallet.ts'
import type { ViewKeys } from '../../server/src/exchange/ports/signer.ts'
import type { PaymentToUs } from './holdings.ts'
import { PATIENCE_MS } from './patience.ts'

/** Where a check reads a wallet. `restoreHeight`: below the first payment to it. */
export type MoneroSource = Readonly<{
  viewKeys: ViewKeys
  seedKey: Uint8Array
  daemonUrl: string
  highestIndex: number
  restoreHeight: number
}>

/**
 * The unspent outputs of the app's wallet, as a wallet of monero-wallet-rpc finds them that is restored from the keys and
 * scans the chain itself. Of the app's database it needs the highest index of a deposit address. The app's code derives the keys,
 * starts and restores the wallet program, and parses its list of outputs, so a fault there could also hide a difference. What
 * the app has recorded of its outputs, and the wallet that it pays from, are not read.
 */
export async function readMoneroOutputs({
  viewKeys,
  seedKey,
  daemonUrl,
  highestIndex,
  restoreHeight,
}: MoneroSource): Promise<readonly WalletOutput[]> {
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-wallet-check-'))
  // With it the wallet knows its addresses before it scans the chain, and scans it once.
  await writeFile(join(folder, INDEX_FILE), String(highestIndex + 1))
  const keys = createWalletKeys(viewKeys, seedKey)
  const session = createWalletSession({ keys, folder, daemonUrl, restoreHeight })
  try {
    return [...(await session.run((wallet) => wallet.outputs('slow'))).values()]
  } finally {
    await session.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Deeper than any reorganisation of a test. */
const REORG_DEPTH = 50

/** A height below every later payment on this chain. */
export async function readRestoreHeight(daemonUrl: string): Promise<number> {
  const answer = await fetch(new URL('/get_height', daemonUrl), { signal: AbortSignal.timeout(PATIENCE_MS) })
  const { height } = (await answer.json()) as { height: number }
  return Math.max(0, height - REORG_DEPTH)
}

/** What a transaction paid to an address of the app, if no other has spent it. The address of deposit n has index n + 1. */
export const sumReceived = (outputs: readonly WalletOutput[], { txHash, keyIndex }: PaymentToUs): bigint =>
  outputs
    .filter((one) => one.txHash === txHash && one.index === (keyIndex === null ? 0 : keyIndex + 1))
    .reduce((sum, { units }) => sum + units, 0n)

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWalletKeys } from '../../server/src/adapters/chains/monero/keys.ts'
import { createWalletSession, type WalletOutput } from '../../server/src/adapters/chains/monero/wallet.ts'
import type { ViewKeys } from '../../server/src/exchange/ports/signer.ts'
import type { PaymentToUs } from './holdings.ts'

/**
 * The unspent outputs of the app's wallet, as a wallet of monero-wallet-rpc finds them that is restored from the keys and
 * scans the chain itself. Of the app's database it needs the highest index of a deposit address. The app's code derives the keys,
 * starts and restores the wallet program, and parses its list of outputs, so a fault there could also hide a difference. What
 * the app has recorded of its outputs, and the wallet that it pays from, are not read.
 */
export async function readMoneroOutputs(
  viewKeys: ViewKeys,
  seedKey: Uint8Array,
  daemonUrl: string,
  highestIndex: number,
): Promise<readonly WalletOutput[]> {
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-wallet-check-'))
  const session = createWalletSession({
    keys: createWalletKeys(viewKeys, seedKey),
    folder,
    daemonUrl,
    restoreHeight: 0,
  })
  try {
    const outputs = await session.run(async (wallet) => {
      await wallet.extendLookahead(highestIndex + 1)
      await wallet.rescan()
      return wallet.outputs('slow')
    })
    return [...outputs.values()]
  } finally {
    await session.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** What a transaction paid to an address of the app, if no other has spent it. The address of deposit n has index n + 1. */
export const sumReceived = (outputs: readonly WalletOutput[], { txHash, keyIndex }: PaymentToUs): bigint =>
  outputs
    .filter((one) => one.txHash === txHash && one.index === (keyIndex === null ? 0 : keyIndex + 1))
    .reduce((sum, { units }) => sum + units, 0n)

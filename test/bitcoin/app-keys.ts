import { HDKey } from '@scure/bip32'
import type { CompressedKeys, KeySource } from '../../server/src/exchange/ports/signer.ts'
import type { KeyPath } from '../../server/src/exchange/ports/spend.ts'

const master = HDKey.fromMasterSeed(new Uint8Array(32).fill(42))
/** Account and chain of BIP-44 for each branch, as the keystore derives them. */
const BRANCH = { deposit: [0, 0], hot: [1, 0], change: [1, 1] } as const

/** Derives the app's keys for these tests. */
export function createAppKeys(coinType: number): { keys: KeySource; publicKeys: CompressedKeys } {
  const derive = (path: KeyPath) => {
    const [account, chain] = BRANCH[path.branch]
    return master.derive(`m/84'/${coinType}'/${account}'/${chain}/${path.index}`)
  }
  return {
    keys: { privateKey: (path) => derive(path).privateKey ?? new Uint8Array() },
    publicKeys: { publicKey: (_coinType, path) => derive(path).publicKey ?? new Uint8Array() },
  }
}

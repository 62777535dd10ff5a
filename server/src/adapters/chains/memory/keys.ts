import { hash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { KeySource, PublicKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'

/** Keys for simulated worlds, from a seed: the same seed gives the same house. Worth nothing on any real chain. */
export function createMemoryKeys(seed: string): KeySource & PublicKeys {
  const points = new Map<string, { compressed: Uint8Array; plain: Uint8Array }>()
  // A SHA-256 hash is a valid private key but for one chance in 2^128.
  const privateKey = ({ branch, index }: KeyPath) =>
    new Uint8Array(hash('sha256', `swapyard memory key ${seed} ${branch} ${index}`, 'buffer'))
  function point(path: KeyPath) {
    const name = `${path.branch}/${path.index}`
    const known = points.get(name)
    if (known) return known
    const plain = secp256k1.getPublicKey(privateKey(path), false)
    const made = { plain, compressed: secp256k1.Point.fromBytes(plain).toBytes(true) }
    points.set(name, made)
    return made
  }
  return Object.freeze({
    privateKey,
    publicKey: (_coinType: number, path: KeyPath) => point(path).compressed,
    plainKey: (_coinType: number, path: KeyPath) => point(path).plain,
  })
}

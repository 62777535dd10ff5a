import { hash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { KeySource, PublicKeys } from '../../src/exchange/ports/signer.ts'
import type { KeyPath } from '../../src/exchange/ports/spend.ts'

/** Keys for simulated networks; the same seed gives the same keys. Not secret: never use them on a real chain. */
export function createMemoryKeys(seed: string): KeySource & PublicKeys {
  const points = new Map<string, { compressed: Uint8Array; uncompressed: Uint8Array }>()
  // A SHA-256 hash is an invalid private key with probability 2^-128.
  const privateKey = ({ branch, index }: KeyPath) =>
    new Uint8Array(hash('sha256', `swapyard memory key ${seed} ${branch} ${index}`, 'buffer'))
  function point(path: KeyPath) {
    const name = `${path.branch}/${path.index}`
    const cached = points.get(name)
    if (cached) return cached
    const uncompressed = secp256k1.getPublicKey(privateKey(path), false)
    const keys = { uncompressed, compressed: secp256k1.Point.fromBytes(uncompressed).toBytes(true) }
    points.set(name, keys)
    return keys
  }
  return Object.freeze({
    privateKey,
    publicKey: (_coinType: number, path: KeyPath) => point(path).compressed,
    uncompressedKey: (_coinType: number, path: KeyPath) => point(path).uncompressed,
  })
}

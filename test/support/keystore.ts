import { createKeystore } from '../../server/src/adapters/signers/keystore.ts'

/** Creates a keystore with a weak key derivation that opens in a millisecond, because tests start hundreds of processes. */
export async function createQuickKeystore(
  path: string,
  passphrase: string,
  coinTypes: readonly number[],
): Promise<string> {
  return createKeystore(path, passphrase, coinTypes, undefined, { N: 2 ** 10, r: 8, p: 1 })
}

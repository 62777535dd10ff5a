import { createKeystore } from '../../server/src/adapters/signers/keystore.ts'

/** Sealed as all are, but so that it opens in a millisecond: processes under test are started by the hundred. */
export async function createQuickKeystore(
  path: string,
  passphrase: string,
  coinTypes: readonly number[],
): Promise<string> {
  return createKeystore(path, passphrase, coinTypes, undefined, { N: 2 ** 10, r: 8, p: 1 })
}

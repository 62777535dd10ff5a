import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { networks as definitions } from '../../networks/index.ts'
import { prepareChildKeys } from '../adapters/signers/child-keys.ts'
import { createKeystore, openPublicKeys, openSigner } from '../adapters/signers/keystore.ts'
import type { Config } from '../config/load.ts'
import { toOutflowLimits } from '../config/signer-limits.ts'
import type { PublicKeys } from '../exchange/ports/signer.ts'
import { present } from '../lib/assert.ts'
import { openAddresses } from './addresses.ts'
import type { Role } from './app.ts'
import { createSigning, isServed } from './chains.ts'
import { payeeMacsOf } from './payee-macs.ts'

export const coinTypes = [
  ...new Set(definitions.filter(({ family }) => isServed(family)).map(({ coinType }) => coinType)),
]

type ClosableSigner = Awaited<ReturnType<typeof openSigner>>

export type Keys = Readonly<{
  publicKeys: PublicKeys
  /** Null in roles that do not sign. */
  signer: ClosableSigner | null
}>

/** The keys that the role needs. Decrypting the seed takes about half a second of one core. */
export async function openKeys(config: Config, role: Role, say: (line: string) => void): Promise<Keys> {
  await ensureKeystore(config, say)
  const publicKeys = openPublicKeys(config.keystore.file)
  const signer = role === 'api' ? null : unlock(config)
  // In parallel, on another core.
  prepareChildKeys()
  return { publicKeys, signer: await signer }
}

/** The sandbox creates its keys. Production keys are created with `swapyard keystore create` and backed up. */
async function ensureKeystore({ environment, keystore }: Config, say: (line: string) => void): Promise<void> {
  if (existsSync(keystore.file)) return
  if (environment === 'production')
    throw new Error(`no keystore at ${keystore.file}: create one with \`swapyard keystore create\``)
  await createKeystore(keystore.file, present(keystore.passphrase, 'the sandbox passphrase'), coinTypes)
  say('keystore: created for this sandbox')
}

async function unlock(config: Config): Promise<ClosableSigner> {
  const { environment, keystore, dataDir, signerLimits } = config
  if (keystore.passphrase === null)
    throw new Error('a worker signs: set SWAPYARD_KEYSTORE_PASSPHRASE, or start with --role api')
  const coinTypeOf = new Map(definitions.map(({ id, coinType }) => [id, coinType]))
  // Derived at the first payout; the start does not need them.
  let own: ReturnType<typeof openAddresses> | null = null
  return openSigner({
    path: keystore.file,
    passphrase: keystore.passphrase,
    journalPath: join(dataDir, 'signed.log'),
    signWith: createSigning(environment),
    coinTypeOf: (network) => present(coinTypeOf.get(network), `the coin type of ${network}`),
    macs: payeeMacsOf(config),
    limits: toOutflowLimits(signerLimits),
    addressesOf: (network) => {
      own ??= openAddresses(config)
      return own.get(network)?.addresses ?? null
    },
  })
}

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { formatUnits } from 'viem'
import { inject } from 'vitest'
import { PATIENCE_MS } from '../../../test/support/patience.ts'
import { until } from '../../../test/support/until.ts'
import { createKeySource, createPublicKeys, publicAccounts } from '../../src/adapters/signers/keys.ts'
import type { ChainsFile } from '../../src/app/sandbox-chains.ts'
import { assetId } from '../../src/core/domain/asset.ts'
import type { Network } from '../../src/core/domain/network.ts'
import type { Chain } from '../../src/exchange/ports/chain.ts'
import type { FamilySigner, KeySource, PublicKeys } from '../../src/exchange/ports/signer.ts'
import type { ChainParts } from './wallet.ts'

type Built = Chain & { close?(): Promise<void> }

export type SharedChain = Readonly<{
  network: Network
  create(rpcUrls: readonly string[], publicKeys: PublicKeys, keys: KeySource): Built
  signWith: FamilySigner
  units: bigint
  remainsAfterReorg: boolean
  /** Only the recipient can read its payments (Monero). */
  isHiddenFromOthers?: boolean
  addresses: Pick<ChainParts, 'encodings' | 'invalidAddresses'>
}>

const chainsFile = (): ChainsFile => JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile

/**
 * A wallet with its own keys on the sandbox chain that all test files share. Other tests pay, mine and reorganise there, so
 * this waits for the chain's own blocks: mining early could break what another test observes.
 */
export async function onSharedChain({
  network,
  create,
  signWith,
  units,
  remainsAfterReorg,
  addresses,
  isHiddenFromOthers = false,
}: SharedChain): Promise<ChainParts> {
  const { controlUrl, networks } = chainsFile()
  const node = networks.find((one) => one.network === network.id)
  if (!node) throw new Error(`the test chains have no ${network.id}`)
  const seed = randomBytes(32)
  const publicKeys = createPublicKeys(publicAccounts(seed, [network.coinType]))
  const keys = createKeySource(seed, network.coinType)
  const [chain, twin] = [create(node.rpcUrls, publicKeys, keys), create(node.rpcUrls, publicKeys, keys)]
  const recipient = isHiddenFromOthers ? createRecipient(network, (...parts) => create(node.rpcUrls, ...parts)) : null
  const ticker = network.symbol.toLowerCase()

  async function control<T>(path: string, body: Record<string, unknown>): Promise<T> {
    const answer = await fetch(controlUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ network: network.id, ...body }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as T
  }

  return {
    chain,
    twin,
    asset: { id: assetId(ticker, network.id), ticker, network: network.id, decimals: network.decimals, contract: null },
    units,
    sign: ({ intent }) => signWith(intent, keys),
    pay: async (address, amount) => {
      const { hash } = await control<{ hash: string }>('/deposits', {
        currency: 'native',
        address,
        amount: formatUnits(amount, network.decimals),
      })
      return hash
    },
    createExternalAddress: async () =>
      recipient?.chain.addresses.deposit(recipient.nextIndex++).address ??
      (await control<{ address: string }>('/wallets', {})).address,
    ...(recipient === null ? {} : { recipientChain: recipient.chain }),
    blocks: async (count) => {
      const target = (await chain.reader.head()).height + count
      await until(`${count} blocks`, async () => (await chain.reader.head()).height >= target)
    },
    reorg: async (depth) => {
      await control('/reorgs', { depth })
    },
    remainsAfterReorg,
    ...addresses,
    stop: async () => {
      await Promise.all([chain.close?.(), twin.close?.(), recipient?.chain.close?.()])
    },
  }
}

/** A chain adapter with other keys, whose addresses the test pays. */
function createRecipient(network: Network, create: (publicKeys: PublicKeys, keys: KeySource) => Built) {
  const seed = randomBytes(32)
  const publicKeys = createPublicKeys(publicAccounts(seed, [network.coinType]))
  return { chain: create(publicKeys, createKeySource(seed, network.coinType)), nextIndex: 0 }
}

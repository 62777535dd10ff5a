import type { Network } from '../../../core/domain/network.ts'
import type { Chain } from '../../../exchange/ports/chain.ts'
import type { ViewKeys } from '../../../exchange/ports/signer.ts'
import { assert } from '../../../lib/assert.ts'
import { createHttp } from '../../../lib/http.ts'
import { createAddresses } from './address.ts'
import { moneroDefaults } from './defaults.ts'
import { createWalletKeys } from './keys.ts'
import { createMoneroNode } from './node.ts'
import { createOutputOrigins } from './output-origins.ts'
import { createReader } from './reader.ts'
import { createSender } from './sender.ts'
import { createWalletSession } from './wallet.ts'
import { createWalletOutputs } from './wallet-outputs.ts'

export type MoneroChainOptions = Readonly<{
  network: Network
  /** Daemons (monerod 0.18). Decisions that move money require all of them to agree. */
  rpcUrls: readonly string[]
  viewKeys: ViewKeys
  /** null in a process without the seed, which derives addresses but scans no blocks. */
  spending: (Readonly<{ seedKey: Uint8Array; folder: string }> & Partial<typeof moneroDefaults>) | null
}>

/** Chain adapter of Monero. `close` stops the wallet process and closes the connections. */
export function createMoneroChain({ network, rpcUrls, viewKeys, spending }: MoneroChainOptions): Chain & {
  close(): Promise<void>
} {
  assert(network.family === 'monero', 'the network is of the Monero family')
  const keys = createWalletKeys(viewKeys, spending?.seedKey ?? null)
  const http = createHttp()
  const nodes = rpcUrls.map((url) => createMoneroNode(network, http, url))
  const [first] = nodes
  assert(first, 'a chain is read from at least one node')
  const addresses = createAddresses(keys)
  const origins = createOutputOrigins()
  const outputs = createWalletOutputs({ origins, nodes })
  const wallet =
    spending === null
      ? null
      : createWalletSession({
          keys,
          folder: spending.folder,
          daemonUrl: first.url,
          restoreHeight: spending.restoreHeight ?? moneroDefaults.restoreHeight,
        })
  return Object.freeze({
    network,
    addresses,
    reader: createReader({ network, nodes, keys, origins, outputs, wallet }),
    sender: createSender({
      network,
      nodes,
      wallet,
      outputs,
      hot: addresses.hot(),
      outputsReady: spending?.outputsReady ?? moneroDefaults.outputsReady,
    }),
    close: async () => {
      await wallet?.close()
      await http.close()
    },
  })
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hex } from '@scure/base'
import { freePort } from '@swapyard/lib/free-port.ts'
import { createJsonRpc, unwrapAnswer } from '@swapyard/lib/json-rpc.ts'
import { startBcoin } from '../../sandbox/src/bitcoin/nodes.ts'
import { btc } from '../../server/networks/btc.ts'
import { keyScript, parametersOf } from '../../server/src/adapters/chains/bitcoin/address.ts'
import { resolveNetwork } from '../../server/src/core/domain/network.ts'
import { createAppKeys } from './app-keys.ts'
import { describeBitcoinChain, type TestNode } from './chain-suite.ts'

const sandbox = resolveNetwork(btc, 'sandbox')
/** Replaceable as on mainnet; bcoin accepts replacements. */
const network = { ...sandbox, bitcoin: { ...parametersOf(sandbox), replaceable: true } }

/** Starts bcoin behind the sandbox's server. The initial blocks pay our hot wallet and activate segwit. */
async function startNode(): Promise<TestNode> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-bcoin-'))
  const node = await startBcoin(folder, await freePort())
  const rpc = createJsonRpc({ url: node.rpcUrl })
  const { publicKeys } = createAppKeys(network.coinType)
  await node.mineInitialBlocks(
    hex.encode(keyScript(parametersOf(network), publicKeys.publicKey(0, { branch: 'hot', index: 0 }))),
    0,
  )
  return {
    url: node.rpcUrl,
    canValidateAddresses: false,
    call: async (method, ...params) => unwrapAnswer(method, await rpc.call(method, params)),
    stop: async () => {
      await rpc.close()
      await node.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

describeBitcoinChain('bcoin in the sandbox', network, startNode)

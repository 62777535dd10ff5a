import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Children } from '../children.ts'
import { createJsonRpc } from '../json-rpc.ts'
import { waitUntilReady } from '../wait-until-ready.ts'
import { openBcoinNode } from './bcoin-node.ts'
import { bankRewardBlocks, initialBlocks, type RunningNode } from './bitcoin-chain.ts'
import { startCoreRpcServer } from './core-server.ts'

/** Age of the first block of a new chain. */
const firstBlockAgeSeconds = 3600
/** Litecoin Core requires a password. It is constant, so that the URL is the same after a restart; loopback only. */
const password = 'sandbox'

/** Starts bcoin in this process, behind a server that speaks Bitcoin Core's RPC. */
export async function startBcoin(folder: string, port: number): Promise<RunningNode> {
  mkdirSync(folder, { recursive: true })
  const node = await openBcoinNode(join(folder, 'blocks.journal'))
  const server = await startCoreRpcServer(node, port)
  return {
    client: 'bcoin 1.0.2',
    rpcUrl: `http://127.0.0.1:${port}/`,
    async mineInitialBlocks(bankScript, height) {
      const start = Math.floor(Date.now() / 1000) - firstBlockAgeSeconds
      for (let index = height; index < initialBlocks; index++) {
        const script = Buffer.from(index < bankRewardBlocks ? bankScript : '6a00', 'hex')
        await node.mineBlock({ script, txs: [], time: start + index })
      }
    },
    async stop() {
      await server.close()
      await node.close()
    },
  }
}

type Litecoind = { program: string; folder: string; port: number; children: Children; onExit: (reason: string) => void }

/** Starts Litecoin Core 0.21 on regtest, without a wallet and without peers. */
export async function startLitecoind({ program, folder, port, children, onExit }: Litecoind): Promise<RunningNode> {
  mkdirSync(folder, { recursive: true })
  const child = children.start(
    program,
    [
      '-regtest',
      `-datadir=${folder}`,
      '-server=1',
      '-txindex=1',
      // Replacement by fee is off by default in Litecoin Core.
      '-mempoolreplacement=1',
      '-disablewallet',
      '-listen=0',
      '-connect=0',
      '-dnsseed=0',
      '-dbcache=16',
      '-rpcbind=127.0.0.1',
      '-rpcallowip=127.0.0.1',
      `-rpcport=${port}`,
      '-rpcuser=sandbox',
      `-rpcpassword=${password}`,
      '-rpcworkqueue=256',
      '-printtoconsole=0',
      // The first MWEB block must hold a peg-in (LIP-3), which only a wallet can create. MWEB therefore never activates
      // here.
      '-vbparams=mweb:4102444800:9999999999',
    ],
    join(folder, 'litecoind.log'),
  )
  const rpcUrl = `http://sandbox:${password}@127.0.0.1:${port}/`
  const rpc = createJsonRpc(rpcUrl)
  void child.exitReason.then(onExit)
  await waitUntilReady(() => rpc.call('getblockcount'), child.exitReason)
  const networkDetails = (await rpc.call('getnetworkinfo')) as { subversion: string }
  return {
    client: `litecoind ${/:([\d.]+)/.exec(networkDetails.subversion)?.[1] ?? ''}`.trim(),
    rpcUrl,
    async mineInitialBlocks(bankScript, height) {
      const rewardBlocks = Math.max(0, bankRewardBlocks - height)
      await rpc.call('setmocktime', [Math.floor(Date.now() / 1000) - firstBlockAgeSeconds])
      await rpc.call('generatetodescriptor', [rewardBlocks, `raw(${bankScript})`])
      await rpc.call('generatetodescriptor', [initialBlocks - height - rewardBlocks, 'raw(6a00)'])
      await rpc.call('setmocktime', [0])
    },
    async stop() {
      rpc.close()
      await child.stop(10_000)
    },
  }
}

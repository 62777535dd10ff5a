import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Children } from '../children.ts'
import { createJsonRpc } from '../json-rpc.ts'
import { waitUntilReady } from '../wait-until-ready.ts'
import { openBcoinNode } from './bcoin-node.ts'
import { bankBlocks, preparedBlocks, type RunningNode } from './bitcoin-chain.ts'
import { serveCore } from './core-server.ts'

/** How far back the first block of a new chain lies. */
const preparedSeconds = 3600
/** Litecoin Core answers nobody without a password. Fixed, so that the URL stays the same over restarts; loopback only. */
const password = 'sandbox'

/** bcoin in this process, behind a server that answers as Bitcoin Core. */
export async function startBcoin(folder: string, port: number): Promise<RunningNode> {
  mkdirSync(folder, { recursive: true })
  const node = await openBcoinNode(join(folder, 'blocks.journal'))
  const server = await serveCore(node, port)
  return {
    client: 'bcoin 1.0.2',
    rpcUrl: `http://127.0.0.1:${port}/`,
    async prepare(bankScript, height) {
      const start = Math.floor(Date.now() / 1000) - preparedSeconds
      for (let made = height; made < preparedBlocks; made++) {
        const script = Buffer.from(made < bankBlocks ? bankScript : '6a00', 'hex')
        await node.mine({ script, txs: [], time: start + made })
      }
    },
    async stop() {
      await server.close()
      await node.close()
    },
  }
}

type Litecoind = { program: string; folder: string; port: number; children: Children; onEnd: (why: string) => void }

/** Litecoin Core 0.21 on regtest, without a wallet and without peers. */
export async function startLitecoind({ program, folder, port, children, onEnd }: Litecoind): Promise<RunningNode> {
  mkdirSync(folder, { recursive: true })
  const child = children.start(
    program,
    [
      '-regtest',
      `-datadir=${folder}`,
      '-server=1',
      '-txindex=1',
      // Off by default in Litecoin Core: without it no fee can be raised.
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
      // The first block with MWEB must hold a peg-in (LIP-3), which only a wallet can make: it never becomes active here.
      '-vbparams=mweb:4102444800:9999999999',
    ],
    join(folder, 'litecoind.log'),
  )
  const rpcUrl = `http://sandbox:${password}@127.0.0.1:${port}/`
  const rpc = createJsonRpc(rpcUrl)
  let ended: string | null = null
  void child.ended.then((why) => {
    ended = why
    onEnd(why)
  })
  await waitUntilReady(
    () => rpc.call('getblockcount'),
    () => ended,
  )
  const information = (await rpc.call('getnetworkinfo')) as { subversion: string }
  return {
    client: `litecoind ${/:([\d.]+)/.exec(information.subversion)?.[1] ?? ''}`.trim(),
    rpcUrl,
    async prepare(bankScript, height) {
      const ours = Math.max(0, bankBlocks - height)
      await rpc.call('setmocktime', [Math.floor(Date.now() / 1000) - preparedSeconds])
      await rpc.call('generatetodescriptor', [ours, `raw(${bankScript})`])
      await rpc.call('generatetodescriptor', [preparedBlocks - height - ours, 'raw(6a00)'])
      await rpc.call('setmocktime', [0])
    },
    async stop() {
      rpc.close()
      await child.stop(10_000)
    },
  }
}

/** Makes `sandbox/src/generated/monero-chain.zst`: the blocks that every sandbox's Monero begins with. Needs Debian's package monero. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '@swapyard/lib/find-program.ts'
import { createChildren } from '../src/children.ts'
import { lockFolder } from '../src/folder-lock.ts'
import { generate, preparedBlocks } from '../src/monero/monero-chain.ts'
import { packChain, preparedFile, startMonerod } from '../src/monero/monero-nodes.ts'
import { createPorts } from '../src/ports.ts'
import { readSettings } from '../src/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-monero-'))
rmSync(preparedFile, { force: true })
const program = findProgram('monerod', readSettings([]).searchPath)
if (program === null) throw new Error("there is no monerod on the PATH: Debian's package monero brings it")
const lock = await lockFolder(folder)
const children = createChildren(lock)
const port = await createPorts(folder)('xmr')
const node = await startMonerod({ program, folder, port, children, onEnd: () => undefined })
await generate(node.rpc, preparedBlocks)
await node.stop()
await children.close()
lock.release()
writeFileSync(preparedFile, packChain(folder))
rmSync(folder, { recursive: true })

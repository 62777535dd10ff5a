/**
 * Writes `sandbox/src/generated/monero-chain.zst`, the initial blocks of every Monero sandbox. Needs Debian's package
 * monero.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '@swapyard/lib/find-program.ts'
import { createChildren } from '../src/children.ts'
import { lockDirectory } from '../src/directory-lock.ts'
import { generateBlocks, initialBlocks } from '../src/monero/monero-chain.ts'
import { initialChainFile, packChain, startMonerod } from '../src/monero/monero-nodes.ts'
import { createPorts } from '../src/ports.ts'
import { readSettings } from '../src/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-monero-'))
rmSync(initialChainFile, { force: true })
const program = findProgram('monerod', readSettings([]).searchPath)
if (program === null) throw new Error("monerod is not on the PATH; install Debian's package monero")
const lock = await lockDirectory(folder)
const children = createChildren(lock)
const port = await createPorts(folder)('xmr')
const node = await startMonerod({ program, folder, port, children, onExit: () => undefined })
await generateBlocks(node.rpc, initialBlocks)
await node.stop()
await children.close()
lock.release()
writeFileSync(initialChainFile, packChain(folder))
rmSync(folder, { recursive: true })

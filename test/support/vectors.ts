import { existsSync, readFileSync } from 'node:fs'
import { isBuildServer } from './build-server.ts'

/** Vectors that were generated for this project: part of the repository. */
const ownFolder = new URL('../../vectors/', import.meta.url)
/** Vectors recorded from other projects, whose licences do not cover a copy: optional, beside the repository. */
const publicFolder = new URL('../../../shared/vectors/', import.meta.url)

/** Reads a file of `vectors/`: JSON, or one JSON value per line. */
export function readOwnVectors<T>(file: string): T {
  return parse(file, readFileSync(new URL(file, ownFolder), 'utf8'))
}

/** Reads a file of the folder beside the repository. If it is missing, a build server fails; elsewhere logs one line and returns null. */
export function readPublicVectors<T>(
  file: string,
  { folder = publicFolder, mustExist = isBuildServer }: { folder?: URL; mustExist?: boolean } = {},
): T | null {
  const path = new URL(file, folder)
  if (existsSync(path)) return parse(file, readFileSync(path, 'utf8'))
  const message = `${file} is missing in ../shared/vectors beside the repository`
  if (mustExist) throw new Error(`${message}; CI needs it (docs/pool-maths.md)`)
  console.info(`${message}: its tests are skipped`)
  return null
}

function parse<T>(file: string, text: string): T {
  if (!file.endsWith('.jsonl')) return JSON.parse(text)
  const lines = text.trim().split('\n')
  return lines.map((line) => JSON.parse(line)) as T
}

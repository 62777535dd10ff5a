import { readdirSync } from 'node:fs'
import { iconFile, iconPath } from '../domain/catalogue.ts'
import type { Currency } from '../domain/currency.ts'
import { AppError } from '../domain/errors.ts'
import type { ApiContext } from './mount.ts'
import type { StaticFiles } from './static-files.ts'

/** Icons of the package. A token's symbol is chosen by its issuer, so it only selects one of these. */
let packaged: ReadonlySet<string> | null = null
const GENERIC = 'generic'

/** The path of a token's icon below the server's public URL. */
export function tokenIconPath(symbol: string): string {
  const name = symbol.toLowerCase()
  return `/icons/tokens/${iconNames().has(name) ? name : GENERIC}.svg`
}

function iconNames(): ReadonlySet<string> {
  packaged ??= new Set(
    readdirSync(folder).flatMap((file) => (/^[a-z0-9]{1,32}\.svg$/.test(file) ? [file.slice(0, -4)] : [])),
  )
  return packaged
}

const folder = new URL('svg/color/', import.meta.resolve('cryptocurrency-icons/package.json'))

/** Serves icons of listed currencies from the package's folder. A requested name never becomes a path. */
export function mountIcons(
  { app, services }: ApiContext<{ listCurrencies(): readonly Currency[] }>,
  sendFile: StaticFiles,
): void {
  let icons: { of: readonly Currency[]; files: ReadonlyMap<string, URL> } | null = null
  app.get('/icons/:name', async (request, reply) => {
    request.operation = '/icons/:name'
    const listed = services.listCurrencies()
    if (icons?.of !== listed) {
      const files = listed.map(
        ({ definition }) => [iconPath(definition), new URL(iconFile(definition), folder)] as const,
      )
      icons = { of: listed, files: new Map(files) }
    }
    const { name } = request.params as { name: string }
    const file = icons.files.get(`/icons/${name}`)
    if (file === undefined) throw new AppError('ROUTE_NOT_FOUND', 'there is no such icon')
    reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    return sendFile(request, reply, file, 'image/svg+xml')
  })
  app.get('/icons/tokens/:name', async (request, reply) => {
    request.operation = '/icons/tokens/:name'
    const { name } = request.params as { name: string }
    const icon = name.endsWith('.svg') ? name.slice(0, -4) : ''
    if (!iconNames().has(icon)) throw new AppError('ROUTE_NOT_FOUND', 'there is no such icon')
    reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    return sendFile(request, reply, new URL(`${icon}.svg`, folder), 'image/svg+xml')
  })
}

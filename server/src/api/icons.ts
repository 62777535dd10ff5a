import { iconFile, iconPath } from '../domain/catalogue.ts'
import type { Currency } from '../domain/currency.ts'
import { AppError } from '../domain/errors.ts'
import type { ApiContext } from './mount.ts'
import type { StaticFiles } from './static-files.ts'

const folder = new URL('svg/color/', import.meta.resolve('cryptocurrency-icons/package.json'))

/** Only icons of listed currencies, from the package's own folder: a name from outside never becomes a path. */
export function mountIcons({ app, services }: ApiContext, sendFile: StaticFiles): void {
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
}

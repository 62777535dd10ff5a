import { pageGroups } from '../pages/page-list.ts'

/** Whether the console has the page of a link. */
export const hasPage = (link: string): boolean =>
  pageGroups.some(({ pages }) => pages.some(({ path }) => path === link.split('?')[0]))

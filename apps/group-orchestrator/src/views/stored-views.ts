import type { StoredGroupView } from '@flowly/contract';
import { storedGroupView } from '@flowly/groups';
import type { GroupReader, GroupRecord } from '@flowly/store';
import { shownSteps, type ShownStep } from './group-event';

/** What the database says of a group at one moment, but for its messages. */
export interface StoredView {
  view: StoredGroupView;
  /** The steps whose text and tool calls so far belong into the view. */
  shown: ShownStep[];
  /** Says whether the group is still like that. */
  rowRevision: number;
}

export function readView(groups: GroupReader, record: GroupRecord): StoredView {
  const view = storedGroupView(groups.viewInput(record));
  return { view, shown: shownSteps(record), rowRevision: record.rowRevision };
}

/** The views of all groups, kept while a group does not change: a list of hundreds reads only what did. */
export class StoredViews {
  private known = new Map<string, StoredView>();

  /** As they are now, newest change first. */
  read(groups: GroupReader): StoredView[] {
    const views = groups.groupRevisions().flatMap(({ id, rowRevision }) => {
      const known = this.known.get(id);
      if (known?.rowRevision === rowRevision) return [known];
      const record = groups.findGroup(id);
      return record ? [readView(groups, record)] : [];
    });
    this.known = new Map(views.map((stored) => [stored.view.id, stored]));
    return views;
  }
}

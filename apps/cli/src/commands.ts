import { exportProfile, importProfile } from './archive/archive';
import { chat } from './chat/chat';
import {
  createGroup,
  deleteGroup,
  groupHistory,
  listGroups,
  showGroup,
  stopGroup,
} from './groups/groups';
import { sendToGroup } from './groups/send';
import { configureProfile, createProfile } from './profiles/change';
import { describeProfile, listProfiles } from './profiles/directory';
import { connectProfile, deleteProfile, stopProfile } from './profiles/life';
import type { Commands } from './program';

export const commands: Commands = {
  listProfiles,
  describeProfile,
  createProfile,
  configureProfile,
  deleteProfile,
  stopProfile,
  connectProfile,
  exportProfile,
  importProfile,
  chat,
  listGroups,
  showGroup,
  createGroup,
  sendToGroup,
  stopGroup,
  deleteGroup,
  groupHistory,
};

"""The settings that the meter and the planner are judged on, written before they were run."""

from sottovoce.lab.release._listed import ClassSetting, TopicSetting

TOPIC_SETTINGS: tuple[TopicSetting, ...] = ()
CLASS_SETTINGS: tuple[ClassSetting, ...] = ()

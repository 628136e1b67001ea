function delay() return 1 end
